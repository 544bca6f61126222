import { describe, expect, test } from 'vitest'
import { agent, eventsOf, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { hidingBubblewrap, needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

/** Checks that the last event, the exit code and standard error report the same failed start. */
function expectTold({ code, stdout, stderr }: Ended, reason: string): void {
  const events = eventsOf(stdout)
  expect(events.map(({ type }) => type)).toEqual(['error', 'turn.failed'])
  const [, last] = events
  expect(last).toMatchObject({ reason, exit_code: code, denied: 0 })
  const { message } = (last as { readonly error: { readonly message: string } }).error
  expect(message).not.toBe('')
  const flush = (text: string): string => text.replaceAll(/\n */g, '\n')
  expect(flush(stderr)).toContain(flush(message))
}

const bad: readonly (readonly [string, readonly string[], number, string])[] = [
  ['an unknown flag', ['--frobnicate', 'x'], 2, 'usage'],
  ['a flag that can not have this value', ['-s', 'none', 'x'], 2, 'usage'],
  ['a wrong setting', ['-c', 'sandbox_mode=off', 'x'], 2, 'usage'],
  ['no prompt', [], 2, 'usage'],
  ['a key that is not there', ['-m', 'claude-opus-5', 'x'], 2, 'usage'],
  ['a session that is not there', ['resume', '00000000', 'x'], 2, 'usage'],
  ['a schema that is not there', ['--output-schema', 'gone.json', 'x'], 2, 'usage'],
  ['a price that nobody has said', ['-m', 'gpt-nobody-knows-it', '--max-cost', '1', 'x'], 2, 'usage'],
]

describe('a run that cannot start also ends with an event of its class', () => {
  test.each(bad)('%s', async (_, args, code, reason) => {
    const cwd = repository()
    const told = await exec([], ['--json', ...args], { cwd })
    expect(told.code).toBe(code)
    expectTold(told, reason)
    expect(told.requests).toEqual([])
  })

  test.skipIf(needsBubblewrap())('no sandbox', async () => {
    const cwd = repository()
    const told = await exec([], ['--json', 'x'], { cwd, startedBy: hidingBubblewrap })
    expect(told.code).toBe(5)
    expectTold(told, 'sandboxUnavailable')
    expect(told.stderr).toMatch(/bubblewrap.*install/)
    expect(told.requests).toEqual([])
  })

  test('a prompt that looks like the flag does not switch events on', async () => {
    const { code, stdout } = await agent(['exec', '--frobnicate', '--', '--json'], {
      cwd: repository(),
      home: tempDir(),
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('a prompt that is waited for', () => {
  test.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('is given up on %s', async (signal, code, reason) => {
    const told = await exec([], ['--json'], {
      cwd: repository(),
      keepStdinOpen: true,
      onStart: (child) =>
        child.stderr?.on('data', (text: string) => {
          if (text.includes('waiting for the prompt on standard input')) child.kill(signal)
        }),
    })
    expect({ code: told.code, signal: told.signal }).toEqual({ code, signal: null })
    expectTold(told, reason)
  })

  test('is refused as soon as it is too long, even if it never ends', async () => {
    const startedBy = ['sh', '-c', 'yes | "$@"', 'sh']
    const told = await exec([], ['--json'], { cwd: repository(), startedBy })
    expect(told.code).toBe(2)
    expectTold(told, 'usage')
    expect(told.stderr).toContain('more than 1048576 characters')
  })

  test('may come late besides an argument, also for a resumed session', async () => {
    const cwd = repository()
    const home = tempDir()
    const startedBy = ['sh', '-c', '(sleep 2; echo late) | "$@"', 'sh']
    const lastWords = (requests: Awaited<ReturnType<typeof exec>>['requests']): string =>
      JSON.stringify(requests.at(-1)?.body)
    const sandbox = ['-s', 'danger-full-access']
    const first = await exec([[say('ok')]], [...sandbox, 'look'], { cwd, home, startedBy })
    const options = { cwd, home, startedBy }
    const again = await exec([[say('ok')]], [...sandbox, 'resume', '--last', 'once more'], options)
    const silent = ['--no-stdin', 'resume', '--last', 'and again']
    const unseen = await exec([[say('ok')]], [...sandbox, ...silent], { cwd, home, keepStdinOpen: true })
    expect([first.code, again.code, unseen.code]).toEqual([0, 0, 0])
    expect(lastWords(first.requests)).toContain(String.raw`look\n\n<stdin>\nlate`)
    expect(lastWords(again.requests)).toContain(String.raw`once more\n\n<stdin>\nlate`)
    expect(lastWords(unseen.requests)).toMatch(/and again"/)
    expect(unseen.stderr).not.toContain('standard input')
  })

  test('is awaited no longer than the run may take', async () => {
    const told = await exec([], ['--json', '--timeout', '2'], { cwd: repository(), keepStdinOpen: true })
    expect(told.code).toBe(2)
    expectTold(told, 'usage')
  })
})

test('a final message that -o cannot write fails the run, also in its last event', async () => {
  const cmd = 'rm -f out; mkdir out'
  const args = ['--json', '-s', 'danger-full-access', '-o', 'out', 'x']
  const ended = await exec([[call('exec_command', { cmd })], [say('ok')]], args, { cwd: repository() })
  expect(ended.code).toBe(1)
  expect(ended.events.filter(({ type }) => /^turn\.(?:completed|failed)$/.test(type))).toHaveLength(1)
  expect(ended.events.at(-1)).toMatchObject({
    reason: 'failed',
    exit_code: 1,
    error: { message: expect.stringContaining("can't be written") },
  })
})
