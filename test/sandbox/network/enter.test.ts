import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, Server, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { installHelper } from '../../../sandbox/helper/helper.ts'
import { compileFilter } from '../../../sandbox/seccomp/compile.ts'
import { filterRules } from '../../../sandbox/seccomp/rules.ts'
import { testUnless } from '../../support/needs.ts'
import { eventually, processesWith, temporaryDirectory } from '../helpers.ts'

const runsHere = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64')
const test = testUnless(
  runsHere ? undefined : `these are Linux programs, not ones for ${process.platform} ${process.arch}`,
)

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
const trySockets = `
  for (const target of [{ path: '/absent' }, { port: 1, host: '127.0.0.1' }])
    require('net').connect(target).on('error', ({ code }) => console.log(code))`

async function install(): Promise<readonly [helper: string, filter: string]> {
  const directory = await temporaryDirectory()
  const filter = join(directory, 'filter')
  await writeFile(filter, compileFilter(filterRules('loopback'), architecture))
  return [installHelper(architecture, directory), filter]
}

test('the restrictions on a command leave it loopback and no unix sockets', async () => {
  const [helper, filter] = await install()
  const child = spawn(helper, ['filter', filter, process.execPath, '-e', trySockets])
  expect((await text(child.stdout)).split('\n').toSorted()).toEqual(['', 'ECONNREFUSED', 'EPERM'])
})

test('the listening sockets are passed on before the command starts with its arguments, directory and environment', async () => {
  const [meeting, workspace] = [await temporaryDirectory(), await temporaryDirectory()]
  const [helper, filter] = await install()
  const relay = spawn(helper, ['relay', '3', '2'], {
    cwd: meeting,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const servers: Server[] = []
  const all = new Promise<void>((resolve) => {
    relay.on('message', (_message, server) => {
      if (server instanceof Server) servers.push(server)
      if (servers.length === 2) resolve()
    })
  })
  if (relay.stdout !== null) await once(relay.stdout, 'data')
  const child = spawn(
    helper,
    ['enter', filter, workspace, '2', '0', '0', '/bin/sh', '-c', 'pwd; echo "$1 $WORD"', 'sh', 'one two'],
    {
      cwd: meeting,
      env: { WORD: 'three' },
    },
  )
  expect(await text(child.stdout)).toBe(`${workspace}\none two three\n`)
  await all
  for (const [index, server] of servers.entries()) {
    onTestFinished(() => void server.close())
    server.on('connection', (socket) => socket.end(`served ${index}`))
    for (const host of ['127.0.0.1', '::1'])
      expect(await text(connect((server.address() as AddressInfo).port, host))).toBe(`served ${index}`)
  }
})

test('without a relay the command is not started, with a message', async () => {
  const [helper, filter] = await install()
  const child = spawn(helper, ['enter', filter, '/', '1', '0', '/bin/echo', 'started'], {
    cwd: await temporaryDirectory(),
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect({ stdout, stderr, code }).toEqual({
    stdout: '',
    stderr: 'portcullis: the port of the proxy or of a service could not be opened\n',
    code: 125,
  })
})

test('a relay does not outlive the program that started it', async () => {
  const [relay] = await install()
  const script = `
    const child = require('child_process').spawn('${relay}', ['relay', '3', '1'], { cwd: '${await temporaryDirectory()}', stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
    child.stdout.on('data', () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script]), 'exit')
  await eventually(() => processesWith(relay).length === 0)
})
