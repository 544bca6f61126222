import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect } from 'vitest'
import { openSandbox, parsePolicy, type Sandbox, type SandboxProcess } from '../../sandbox/index.ts'
import { testUnless } from '../support/needs.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import {
  closeLater,
  eventually,
  openFor,
  processesWith,
  temporaryDirectory,
  testInBubblewrap,
  testInDocker,
} from './helpers.ts'

const size = { columns: 77, rows: 33 }

beforeAll(() => {
  if (spawnSync('docker', ['version']).status === 0) ensureImage()
})

describe.each([
  ['bubblewrap', 'workspace-write', testInBubblewrap],
  ['docker', 'workspace-write', testInDocker],
  [
    'unconfined',
    'danger-full-access',
    testUnless(process.platform === 'linux' ? undefined : 'terminals are made on Linux alone'),
  ],
] as const)('%s', (backend, mode, test) => {
  const open = async (): Promise<Sandbox> => {
    const readableRoots = backend === 'docker' ? imageRoots : [dirname(process.execPath)]
    const policy = parsePolicy({ mode, workspace: await temporaryDirectory(), readableRoots: [...readableRoots] })
    return closeLater(await openSandbox(policy, { backend, image }))
  }
  const start = (sandbox: Sandbox, script: string): SandboxProcess =>
    sandbox.spawn({ argv: ['sh', '-c', script], cwd: sandbox.policy.workspace, terminal: size })
  const run = async (script: string, type?: (started: SandboxProcess) => void) => {
    const started = start(await open(), script)
    type?.(started)
    const [shown, errors, result] = await Promise.all([text(started.stdout), text(started.stderr), started.result])
    expect(errors).toBe('')
    return { shown, result }
  }
  /** Calls `act` when a running command has printed `sign`. */
  const whenShown = (sign: string, act: (started: SandboxProcess) => void) => (started: SandboxProcess) => {
    let shown = ''
    started.stdout.on('data', (bytes: Buffer) => {
      const before = shown.includes(sign)
      shown += bytes.toString()
      if (!before && shown.includes(sign)) act(started)
    })
  }

  test('a command has a controlling terminal of the requested size, and its exit code is passed on', async () => {
    const { shown, result } = await run(
      'test -t 0 && test -t 1 && test -t 2 && stty size && tput cols </dev/tty; exit 7',
    )
    expect(shown).toBe('33 77\r\n77\r\n')
    expect(result).toMatchObject({ status: 'exited', code: 7, denials: [] })
  })

  test('without a terminal, a command can’t open one', async () => {
    const sandbox = await open()
    const started = sandbox.spawn({ argv: ['sh', '-c', 'test -t 0 || true </dev/tty'], cwd: sandbox.policy.workspace })
    started.stdout.resume()
    started.stderr.resume()
    expect(started.terminal).toBeUndefined()
    expect(await started.result).not.toMatchObject({ code: 0 })
  })

  test('programs recognize it as a terminal', async () => {
    const ask = 'console.log(process.stdin.isTTY, process.stdout.isTTY, process.stdout.columns, process.env.TERM)'
    const { shown } = await run(`"${process.execPath}" -e '${ask}'`)
    expect(shown).toBe('true true 77 xterm-256color\r\n')
  })

  test('typed input arrives, is echoed, and ends with the input', async () => {
    const { shown } = await run('cat; echo end', ({ stdin }) => stdin?.end('typed\n'))
    expect(shown.replaceAll('\r', '').replace('^D\b\b', '')).toMatch(/^typed\ntyped\nend\n$/)
  })

  test('control-C interrupts the command', async () => {
    const interrupt = whenShown('up', ({ stdin }) => void stdin?.write('\u0003'))
    const { shown, result } = await run(
      `trap 'echo interrupted; exit 5' INT; echo up; while :; do sleep 0.05; done`,
      interrupt,
    )
    expect(shown).toMatch(/interrupted/)
    expect(result).toMatchObject({ status: 'exited', code: 5 })
  })

  test('a new size reaches the command', async () => {
    const widen = whenShown('up', ({ terminal }) => terminal?.resize({ columns: 100, rows: 50 }))
    const { shown } = await run(`trap 'stty size; exit' WINCH; echo up; while :; do sleep 0.05; done`, widen)
    expect(shown).toBe('up\r\n50 100\r\n')
  })

  test('five megabytes arrive complete, including the last line before the end', async () => {
    const { shown } = await run('head -c 5000000 /dev/zero | tr "\\0" x; echo; echo last')
    expect(shown.length).toBe(5_000_000 + '\r\nlast\r\n'.length)
    expect(shown).toMatch(/x\r\nlast\r\n$/)
  })

  test('much input can be sent during much output', async () => {
    const keys = whenShown('up', ({ stdin }) => void stdin?.write('y'.repeat(300_000)))
    const { shown } = await run('stty raw -echo; echo up; head -c 300000 | tee /dev/stderr | wc -c', keys)
    expect(shown.replaceAll(/y/g, '').replace(/\s+/g, ' ').trim()).toBe('up 300000')
    expect(shown.match(/y/g)).toHaveLength(300_000)
  })

  test('a stop ends the whole process tree, including processes that ignore it or moved to another session', async () => {
    const seconds = `9${Math.floor(Math.random() * 1e9)}`
    const sandbox = await open()
    const started = start(
      sandbox,
      `trap '' TERM HUP; setsid sleep ${seconds} & sleep ${seconds} & echo up; sleep ${seconds}`,
    )
    whenShown('up', () => started.kill())(started)
    expect((await started.result).status).toBe('cancelled')
    await eventually(() => processesWith(`sleep ${seconds}`).length === 0)
  })

  test('a command that is asked to end may clean up first', async () => {
    const stop = whenShown('up', (started) => started.kill())
    const { shown, result } = await run(`trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.05; done`, stop)
    expect(shown).toMatch(/cleaned/)
    expect(result.status).toBe('cancelled')
  })

  test('a background child that keeps the terminal does not keep a finished command open', async () => {
    const { shown, result } = await run(`trap '' HUP; sleep 600 & echo done`)
    expect(shown).toBe('done\r\n')
    expect(result).toMatchObject({ status: 'exited', code: 0 })
  })

  test('an interactive shell has job control', async () => {
    const sandbox = await open()
    const argv = ['bash', '--norc', '-i'] as const
    const started = sandbox.spawn({ argv, cwd: sandbox.policy.workspace, terminal: size })
    const type = (keys: string) => () => void started.stdin?.write(keys)
    type(`sh -c 'echo u$((1))p; exec sleep 600'\n`)()
    whenShown('u1p', type('\u001a'))(started)
    whenShown('Stopped', type('kill -KILL %1; exit 3; exit 3\n'))(started)
    const shown = await text(started.stdout)
    expect(shown).toMatch(/\[1\]\+ +Stopped +sh -c/)
    expect(await started.result).toMatchObject({ status: 'exited', code: 3 })
  })

  test('an impossible size and a second input are usage errors', async () => {
    const sandbox = await open()
    const command = { argv: ['true'], cwd: sandbox.policy.workspace } as const
    expect(() => sandbox.spawn({ ...command, terminal: { columns: 0, rows: 5 } })).toThrow(RangeError)
    expect(() => sandbox.spawn({ ...command, terminal: size, stdin: 'pipe' })).toThrow(TypeError)
  })
})

testInBubblewrap('a refusal is explained from the output of the terminal', async () => {
  const sandbox = await openFor({ mode: 'read-only', workspace: await temporaryDirectory() })
  const started = start(sandbox)
  started.stdout.resume()
  expect((await started.result).denials).toMatchObject([{ kind: 'path' }])
})

function start(sandbox: Sandbox): SandboxProcess {
  return sandbox.spawn({ argv: ['touch', 'here'], cwd: sandbox.policy.workspace, terminal: size })
}
