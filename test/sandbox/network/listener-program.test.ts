import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, Server, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { expect, test as plain } from 'vitest'
import { listenerProgram } from '../../../sandbox/network/listener-program.ts'
import { testUnless } from '../../support/needs.ts'
import { temporaryDirectory } from '../helpers.ts'

const runsHere = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64')
const test = testUnless(
  runsHere ? undefined : `the listener is a Linux program, not one for ${process.platform} ${process.arch}`,
)

async function makeProgram(port: number): Promise<string> {
  const file = join(await temporaryDirectory(), 'listen')
  await writeFile(file, listenerProgram(process.arch === 'arm64' ? 'arm64' : 'x64', { port, channel: 6 }), {
    mode: 0o755,
  })
  return file
}

test('it opens a port only on loopback, passes it to its parent, and ends', async () => {
  const stdio = ['ignore', 'inherit', 'inherit', 'ignore', 'ignore', 'ignore', 'ipc'] as const
  const child = spawn(await makeProgram(0), { stdio: [...stdio] })
  const [[, server], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  expect(code).toBe(0)
  if (!(server instanceof Server)) throw new Error('no server came')
  const { address, port } = server.address() as AddressInfo
  expect(address).toBe('127.0.0.1')
  server.on('connection', (socket) => socket.end('served'))
  expect(await text(connect(port, '127.0.0.1'))).toBe('served')
  server.close()
})

test('if it fails, it ends with the error number', async () => {
  const EBADF = 9
  const EADDRINUSE = 98
  const noChannel = spawn(await makeProgram(0), { stdio: 'ignore' })
  expect(await once(noChannel, 'exit')).toEqual([EBADF, null])
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const taken = spawn(await makeProgram((other.address() as AddressInfo).port), { stdio: 'ignore' })
  expect(await once(taken, 'exit')).toEqual([EADDRINUSE, null])
  other.close()
})

plain('the program for the other processor is the one that was tested on it', () => {
  const digest = (architecture: 'x64' | 'arm64'): string =>
    createHash('sha256')
      .update(listenerProgram(architecture, { port: 3128, channel: 6 }))
      .digest('hex')
  expect({ x64: digest('x64'), arm64: digest('arm64') }).toMatchInlineSnapshot(`
    {
      "arm64": "96cb5c2dda6a60467aba9fa85347dfa5938a8838c482881e6b23b2bf13c07efc",
      "x64": "4adee742110664270732dae77e93a7b8286269acd39d5e8f0276169e83f90da4",
    }
  `)
})
