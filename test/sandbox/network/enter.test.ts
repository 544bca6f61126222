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

test('the listening socket is passed on before the command starts with its arguments, directory and environment', async () => {
  const [meeting, workspace] = [await temporaryDirectory(), await temporaryDirectory()]
  const [helper, filter] = await install()
  const relay = spawn(helper, ['relay', '3'], {
    cwd: meeting,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const message = once(relay, 'message')
  if (relay.stdout !== null) await once(relay.stdout, 'data')
  const child = spawn(
    helper,
    ['enter', '0', filter, workspace, '/bin/sh', '-c', 'pwd; echo "$1 $WORD"', 'sh', 'one two'],
    {
      cwd: meeting,
      env: { WORD: 'three' },
    },
  )
  expect(await text(child.stdout)).toBe(`${workspace}\none two three\n`)
  const [, server] = await message
  if (!(server instanceof Server)) throw new Error('no server came')
  onTestFinished(() => void server.close())
  server.on('connection', (socket) => socket.end('served'))
  expect(await text(connect((server.address() as AddressInfo).port, '127.0.0.1'))).toBe('served')
})

test('without a relay the command is not started, with a message', async () => {
  const [helper, filter] = await install()
  const child = spawn(helper, ['enter', '0', filter, '/', '/bin/echo', 'started'], { cwd: await temporaryDirectory() })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect({ stdout, stderr, code }).toEqual({
    stdout: '',
    stderr: 'portcullis: the proxy that enforces the network allow-list did not start\n',
    code: 125,
  })
})

test('a relay does not outlive the program that started it', async () => {
  const [relay] = await install()
  const script = `
    const child = require('child_process').spawn('${relay}', ['relay', '3'], { cwd: '${await temporaryDirectory()}', stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
    child.stdout.on('data', () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script]), 'exit')
  await eventually(() => processesWith(relay).length === 0)
})
