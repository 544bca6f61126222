import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSandbox, parsePolicy, SandboxError, type RunCommandOptions } from '../../sandbox/index.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const open = (mode: 'danger-full-access' | 'workspace-write' = 'danger-full-access', workspace = tempDir()) =>
  openSandbox(parsePolicy({ mode, workspace }))

describe('a command run to its end', () => {
  test('returns how it ended, and what it wrote', async () => {
    const workspace = tempDir()
    await using sandbox = await open('danger-full-access', workspace)
    const result = await sandbox.run(['sh', '-c', 'pwd; echo wrong >&2; exit 3'])
    expect(result).toMatchObject({
      status: 'exited',
      code: 3,
      stdout: `${workspace}\n`,
      stderr: 'wrong\n',
      denials: [],
    })
  })

  test('gets its input, its directory and its variables', async () => {
    const cwd = tempDir()
    await using sandbox = await open()
    const { stdout } = await sandbox.run(['sh', '-c', 'cat; pwd; echo $WORD'], {
      input: 'in\n',
      cwd,
      env: { WORD: 'w' },
    })
    expect(stdout).toBe(`in\n${cwd}\nw\n`)
  })

  test('may leave its input unread', async () => {
    await using sandbox = await open()
    expect(await sandbox.run(['true'], { input: 'x'.repeat(1_000_000) })).toMatchObject({ status: 'exited', code: 0 })
  })

  test('may be ended by a signal or a time-out, which is also a result', async () => {
    await using sandbox = await open()
    const signal = AbortSignal.abort()
    expect((await sandbox.run(['sleep', '60'], { signal })).status).toBe('cancelled')
    expect((await sandbox.run(['sleep', '60'], { timeoutMs: 50 })).status).toBe('timed-out')
  })

  test('that is missing is an error with a code', async () => {
    await using sandbox = await open()
    const running = sandbox.run(['no-such-program'])
    await expect(running).rejects.toMatchObject({ constructor: SandboxError, code: 'missing-program' })
  })
})

test.skipIf(needsBubblewrap())('what it was refused is in the result', async () => {
  const outside = join(tempDir(), 'outside')
  await using sandbox = await open('workspace-write')
  const result = await sandbox.run(['sh', '-c', `echo x > ${outside}`])
  expect(result).toMatchObject({ status: 'exited' })
  expect(existsSync(outside)).toBe(false)
})

test('a sandbox is closed at the end of its block', async () => {
  let closed
  {
    await using sandbox = await open()
    closed = sandbox
  }
  await expect(closed.run(['true'])).rejects.toMatchObject({ code: 'closed' })
})

test('a copy with its own spawn uses that', async () => {
  await using sandbox = await open()
  const refused = new Error('refused by the wrapper')
  const wrapped = {
    ...sandbox,
    spawn: () => {
      throw refused
    },
  }
  await expect(wrapped.run(['true'])).rejects.toBe(refused)
})

describe('a command that could not be started exactly as it is given', () => {
  const refused: readonly (readonly [string, readonly string[], RunCommandOptions])[] = [
    ['argv[1]', ['echo', 'a\udce4'], {}],
    ['argv[0]', ['\ud800'], {}],
    ['argv[1]', ['echo', 'a\0b'], {}],
    ['argv', [], {}],
    ['cwd', ['true'], { cwd: '/tmp/\udce4' }],
    ['env.X', ['true'], { env: { X: '\udce4' } }],
    ['env.X=Y', ['true'], { env: { 'X=Y': '' } }],
    ['timeoutMs', ['true'], { timeoutMs: Number.NaN }],
  ]
  test.each(refused)('is refused, and the error names the wrong part: %s', async (key, argv, options) => {
    await using sandbox = await open()
    const error: unknown = await sandbox.run(argv as [string], options).catch((reason: unknown) => reason)
    expect(SandboxError.is(error, 'invalid-command') && error.data.problems.map((one) => one.key)).toEqual([key])
  })
})

test('a policy that contains an unpaired surrogate is invalid', () => {
  for (const part of [{ workspace: '/\udce4' }, { environment: { set: { X: '\udce4' } } }])
    expect(() => parsePolicy({ mode: 'read-only', workspace: '/', ...part })).toThrow(/unpaired surrogate/)
})
