import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, Server, type AddressInfo } from 'node:net'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { installHelper } from '../../../sandbox/helper/helper.ts'
import { testUnless } from '../../support/needs.ts'
import { temporaryDirectory } from '../helpers.ts'

const runsHere = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64')
const test = testUnless(
  runsHere ? undefined : `the listener is a Linux program, not one for ${process.platform} ${process.arch}`,
)

async function listen(...ports: readonly number[]): Promise<readonly [string, readonly string[]]> {
  const helper = installHelper(process.arch === 'arm64' ? 'arm64' : 'x64', await temporaryDirectory(), 0o755)
  return [helper, ['listen', '6', ...ports.map(String)]]
}

test('it opens ports for both versions of the protocol, passes them to its parent, and ends', async () => {
  const stdio = ['ignore', 'inherit', 'inherit', 'ignore', 'ignore', 'ignore', 'ipc'] as const
  const wanted = 65
  const child = spawn(...(await listen(...Array<number>(wanted).fill(0))), { stdio: [...stdio] })
  const servers: Server[] = []
  child.on('message', (_message, server) => {
    if (server instanceof Server) servers.push(server)
  })
  const [[code]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  expect(code).toBe(0)
  expect(servers).toHaveLength(wanted)
  for (const [index, server] of servers.entries()) {
    server.on('connection', (socket) => socket.end(`served ${index}`))
    for (const host of ['127.0.0.1', '::1'])
      expect(await text(connect((server.address() as AddressInfo).port, host))).toBe(`served ${index}`)
    server.close()
  }
})

test('if it fails, it ends with the error number', async () => {
  const EBADF = 9
  const EADDRINUSE = 98
  const noChannel = spawn(...(await listen(0)), { stdio: 'ignore' })
  expect(await once(noChannel, 'exit')).toEqual([EBADF, null])
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const taken = spawn(...(await listen((other.address() as AddressInfo).port)), { stdio: 'ignore' })
  expect(await once(taken, 'exit')).toEqual([EADDRINUSE, null])
  other.close()
})
