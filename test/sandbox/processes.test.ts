import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test as plain } from 'vitest'
import { eventually, openFor, processesWith, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

/** A unique number of seconds, so that this test's `sleep`s can be found in a process list. */
const ownSeconds = (): string => `9${Math.floor(Math.random() * 1e9)}`

describe.each([
  ['bubblewrap', 'workspace-write', testInBubblewrap],
  ['unconfined', 'danger-full-access', plain],
] as const)('%s', (_, mode, test) => {
  const open = async (limits = {}) => openFor({ mode, workspace: await temporaryDirectory(), limits })

  test('exit codes, and bytes of both streams, come through as they are', async () => {
    const sandbox = await open()
    const started = sandbox.spawn({
      argv: ['sh', '-c', 'printf "\\377\\000a"; printf "\\200" >&2; exit 7'],
      cwd: sandbox.policy.workspace,
    })
    const [stdout, stderr, result] = await Promise.all([buffer(started.stdout), buffer(started.stderr), started.result])
    expect([...stdout]).toEqual([255, 0, 97])
    expect([...stderr]).toEqual([128])
    expect(result).toMatchObject({ status: 'exited', code: 7, denials: [] })
  })

  test('/dev/stdout and /dev/stderr can be opened again, as scripts do', async () => {
    const ran = await run(await open(), 'echo out > /dev/stdout; echo err > /dev/stderr; echo in | tee /dev/fd/2')
    expect(ran).toMatchObject({ stdout: 'out\nin\n', stderr: 'err\nin\n' })
  })

  test('an environment that is larger than a pipe’s buffer arrives complete', async () => {
    const sandbox = await open()
    const { workspace } = sandbox.policy
    const env = { LONG: 'x'.repeat(100_000) }
    const started = sandbox.spawn({ argv: ['sh', '-c', 'echo ${#LONG}'], cwd: workspace, env })
    expect((await buffer(started.stdout)).toString()).toBe('100000\n')
  })

  test('a command whose reader gives up still ends', async () => {
    const sandbox = await open()
    const started = sandbox.spawn({
      argv: ['sh', '-c', 'head -c 10000000 /dev/zero; exit 4'],
      cwd: sandbox.policy.workspace,
    })
    started.stdout.destroy()
    started.stderr.resume()
    expect(await started.result).toMatchObject({ status: 'exited', code: 4 })
  })

  test('fifty megabytes arrive complete', async () => {
    const { stdout } = await run(await open(), 'head -c 50000000 /dev/zero | tr "\\0" x')
    expect(stdout.length).toBe(50_000_000)
  })

  test('standard input is empty unless requested', async () => {
    const sandbox = await open()
    expect((await run(sandbox, 'cat; echo end')).stdout).toBe('end\n')
    const started = sandbox.spawn({ argv: ['cat'], cwd: sandbox.policy.workspace, stdin: 'pipe' })
    started.stdin?.end('typed')
    expect((await buffer(started.stdout)).toString()).toBe('typed')
  })

  test.each([
    'read x </dev/tty',
    'git commit --allow-empty',
    'git rebase -i HEAD',
    'npm init',
    'sudo -n ls',
    'ssh x.invalid',
  ])('%s ends at once: there is no keyboard', async (script) => {
    const { result } = await run(await open(), script)
    expect(result.status).toBe('exited')
  })

  test('a background child that holds the pipes neither keeps a finished command open nor survives it', async () => {
    const seconds = ownSeconds()
    const sandbox = await open()
    const ran = await run(sandbox, `sleep ${seconds} & setsid sleep ${seconds} & echo done`)
    expect(ran).toMatchObject({ stdout: 'done\n', result: { status: 'exited', code: 0 } })
    expect(processesWith(`sleep ${seconds}`)).toEqual([])
  })

  test('a time-out ends the whole tree: one that ignores TERM, one that forked twice, one in its own session', async () => {
    const seconds = ownSeconds()
    const sandbox = await open({ wallTimeMs: 300 })
    const ran = await run(
      sandbox,
      `trap '' TERM; (sleep ${seconds} &) ; setsid sleep ${seconds} & sh -c 'trap "" TERM; sleep ${seconds}'; sleep ${seconds}`,
    )
    expect(ran.result).toMatchObject({
      status: 'timed-out',
      afterMs: 300,
      denials: [{ kind: 'limit', rule: 'limits.wallTimeMs', remedy: { limit: 'wallTimeMs', value: 300 } }],
    })
    expect(processesWith(`sleep ${seconds}`)).toEqual([])
  })

  test('a command that is asked to end may clean up first', async () => {
    const sandbox = await open()
    const ran = await run(sandbox, `trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.05; done`, {
      timeoutMs: 500,
    })
    expect(ran).toMatchObject({ stdout: 'up\ncleaned\n', result: { status: 'timed-out' } })
  })

  test('an abort, before the start or after it, and kill() end the command as cancelled', async () => {
    const sandbox = await open()
    const controller = new AbortController()
    const running = run(sandbox, 'sleep 600', { signal: controller.signal })
    setTimeout(() => controller.abort(), 100)
    expect((await running).result.status).toBe('cancelled')
    expect((await run(sandbox, 'sleep 600', { signal: controller.signal })).result.status).toBe('cancelled')
    const started = sandbox.spawn({ argv: ['sleep', '600'], cwd: sandbox.policy.workspace })
    started.kill()
    expect((await started.result).status).toBe('cancelled')
  })

  test('a flood of output is stopped at the limit: every byte up to it is passed on, and the result says so', async () => {
    const { result, stdout, stderr } = await run(await open({ outputBytes: 1_000_000 }), 'echo first >&2; yes')
    expect(stdout.length + stderr.length).toBe(1_000_000)
    expect(result).toMatchObject({ status: 'signaled', denials: [{ kind: 'limit', rule: 'limits.outputBytes' }] })
  })

  test('closing ends running commands, and a closed sandbox starts nothing', async () => {
    const seconds = ownSeconds()
    const sandbox = await open()
    const started = sandbox.spawn({ argv: ['sleep', seconds], cwd: sandbox.policy.workspace })
    await sandbox.close()
    await sandbox.close()
    expect((await started.result).status).toBe('cancelled')
    expect(processesWith(`sleep ${seconds}`)).toEqual([])
    expect(() => sandbox.spawn({ argv: ['true'], cwd: '/' })).toThrow(/is closed/)
  })
})

// For backends that confine, kill.test.ts tests that nothing survives.
plain.each(['SIGKILL', 'SIGTERM'] as const)(
  'unconfined: nothing survives %s of the program that opened the sandbox',
  async (signal) => {
    const seconds = ownSeconds()
    const index = new URL('../../sandbox/index.ts', import.meta.url).pathname
    const script = `
      const { openSandbox, parsePolicy } = await import(${JSON.stringify(index)})
      const workspace = ${JSON.stringify(await temporaryDirectory())}
      const sandbox = await openSandbox(parsePolicy({ mode: 'danger-full-access', workspace }))
      const argv = ['sh', '-c', '(setsid sleep ${seconds} &); sleep ${seconds}; true # ${randomUUID()}']
      sandbox.spawn({ argv, cwd: workspace })
      setInterval(() => {}, 1000)
    `
    const engine = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    await eventually(() => processesWith(`sleep ${seconds}`).filter((line) => /sleep \d+$/.test(line)).length >= 2)
    engine.kill(signal)
    await eventually(() => processesWith(`sleep ${seconds}`).length === 0)
  },
)
