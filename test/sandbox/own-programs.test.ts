import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import type { Server } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import { checkProgram } from '../../sandbox/mounting/check-program.ts'
import { entryProgram, filterProgram } from '../../sandbox/network/entry-program.ts'
import { listenerFailed } from '../../sandbox/network/inside.ts'
import { listenerProgram } from '../../sandbox/network/listener-program.ts'
import { relayProgram } from '../../sandbox/network/relay-program.ts'
import { compileFilter } from '../../sandbox/seccomp/compile.ts'
import { filterRules } from '../../sandbox/seccomp/rules.ts'
import { sizeMessage, terminalProgram } from '../../sandbox/terminal/terminal-program.ts'
import { isEmulated, startOf, testOn } from '../support/processors.ts'
import { tempDir } from '../support/temp-dir.ts'

/** Waits for the socket that a program passes on. Rejects if the program ends without passing one on. */
async function handed(child: ChildProcess): Promise<Server> {
  const message = once(child, 'message') as unknown as Promise<readonly [unknown, Server]>
  const ended = once(child, 'close').then(([code]) => Promise.reject(new Error(`it ended with ${String(code)}`)))
  const [, server] = await Promise.race([message, ended])
  return server
}

/** Runs a program to completion. */
async function run([file, ...start]: readonly [string, ...string[]], args: readonly string[], cwd = tempDir()) {
  const child = spawn(file, [...start, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as unknown, stdout, stderr }
}

/** A random port in a range from which the system doesn't assign ports automatically. */
const port = (): number => 20_000 + Math.floor(Math.random() * 10_000)

describe.each(['x64', 'arm64'] as const)('made for %s', (architecture) => {
  const test = testOn(architecture)
  const filter = compileFilter(filterRules('internet', false), architecture)

  test('the terminal program gives a command a terminal of the requested size, and ends with its exit code', async () => {
    const [file, ...start] = startOf(architecture, terminalProgram(architecture, 3))
    const script = 'stty size; read line; echo "read $line"; test -t 0 && test -t 1 && test -t 2 && exit 7'
    const child = spawn(file, [...start, '/bin/sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit', 'pipe'] })
    const control = child.stdio[3] as Writable
    control.write(sizeMessage({ columns: 100, rows: 40 }))
    child.stdin?.write('words\n')
    const [shown, [code]] = await Promise.all([text(child.stdout as Readable), once(child, 'close')])
    control.destroy()
    expect(shown.replaceAll('\r', '')).toContain('40 100\n')
    expect(shown).toContain('read words')
    expect(code).toBe(7)
  })

  test('the terminal program ends with 126 if there is nothing to run', async () => {
    const [file, ...start] = startOf(architecture, terminalProgram(architecture, 3))
    const child = spawn(file, [...start, '/no/such/program'], { stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
    ;(child.stdio[3] as Writable).write(sizeMessage({ columns: 80, rows: 24 }))
    expect(await once(child, 'close')).toEqual([126, null])
  })

  test('the listener passes on a socket that listens on the loopback interface', async () => {
    const at = port()
    const [file, ...start] = startOf(architecture, listenerProgram(architecture, { port: at, channel: 3 }))
    const child = spawn(file, start, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const [server, [code]] = await Promise.all([handed(child), once(child, 'exit')])
    expect([code, server.address()]).toEqual([0, { address: '127.0.0.1', family: 'IPv4', port: at }])
    server.close()
  })

  test('the relay receives a socket from an entry program of this machine, and passes it on', async () => {
    const [cwd, at] = [tempDir(), port()]
    const [file, ...start] = startOf(architecture, relayProgram(architecture, 3))
    const relay = spawn(file, start, { cwd, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    await once(relay.stdout ?? relay, 'data')
    const here = process.arch === 'arm64' ? 'arm64' : 'x64'
    const own = compileFilter(filterRules('internet', false), here)
    const entry = run(startOf(here, entryProgram(here, { port: at, filter: own })), ['/', '/bin/pwd'], cwd)
    const [server, ended] = await Promise.all([handed(relay), entry])
    expect(server.address()).toMatchObject({ address: '127.0.0.1', port: at })
    expect(ended).toEqual({ code: 0, stdout: '/\n', stderr: '' })
    server.close()
  })

  test('the entry program reports a directory that it can’t enter', async () => {
    const cwd = tempDir()
    const [file, ...start] = startOf(architecture, relayProgram(architecture, 3))
    const relay = spawn(file, start, { cwd, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    await once(relay.stdout ?? relay, 'data')
    const entry = startOf(architecture, entryProgram(architecture, { port: port(), filter }))
    const { code, stderr } = await run(entry, ['/no/such/directory', '/bin/true'], cwd)
    relay.kill('SIGKILL')
    expect(code).toBe(125)
    expect(stderr).toContain('working directory')
  })

  test('the entry program without a relay opens nothing', async () => {
    const entry = startOf(architecture, entryProgram(architecture, { port: port(), filter }))
    expect(await run(entry, ['/', '/bin/true'])).toEqual({ code: 125, stdout: '', stderr: `${listenerFailed}\n` })
  })

  test('the filter program runs a command under the filter, or not at all', async () => {
    const start = startOf(architecture, filterProgram(architecture, filter))
    const ended = await run(start, ['/bin/sh', '-c', 'grep Seccomp: /proc/self/status'])
    if (isEmulated(architecture)) expect(ended).toEqual({ code: 125, stdout: '', stderr: '' })
    else expect(ended).toEqual({ code: 0, stdout: 'Seccomp:\t2\n', stderr: '' })
  })

  test('the check program becomes the command if everything is as planned, and otherwise reports the difference', async () => {
    const check = (path: string, readOnly: boolean) => {
      const program = checkProgram(architecture, [{ do: 'expect', path, readOnly }], 'changed: ')
      return run(startOf(architecture, program), ['/bin/echo', 'as planned'])
    }
    expect(await check('/proc', false)).toEqual({ code: 0, stdout: 'as planned\n', stderr: '' })
    expect(await check('/proc', true)).toEqual({ code: 125, stdout: '', stderr: 'changed: /proc\n' })
    expect(await check('/etc', false)).toEqual({ code: 125, stdout: '', stderr: 'changed: /etc\n' })
  })
})
