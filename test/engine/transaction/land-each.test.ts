import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, startMockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const cmd = (line: string, more: object = {}) => call('exec_command', { cmd: line, ...more })

/** Runs `agent exec --land each`, and calls `between` before each answer of the model. */
async function each(
  cwd: string,
  replies: readonly Reply[],
  between: (request: number) => void,
  args: readonly string[] = [],
) {
  const mock = await startMockOpenAI({
    replies: (_, index) => {
      between(index)
      return replies[index] ?? [say('still not done')]
    },
  })
  onTestFinished(() => mock.close())
  const home = tempDir()
  const state = { XDG_STATE_HOME: join(home, 'state') }
  const run = await agent(
    ['exec', '--json', '--land', 'each', '-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`, ...args, 'do it'],
    { cwd, home, env: { OPENAI_API_KEY: 'sk-test', ...state } },
  )
  const last = JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>
  const again = (...words: readonly string[]) => agent(words, { cwd, home, env: state })
  return { ...run, last, again, requests: mock.requests }
}

describe.skipIf(needsBubblewrap())('with --land each', () => {
  test('what the calls of a response have written is there before the next request, and one undo takes all of it back', async () => {
    const cwd = repository({ 'a.txt': 'one\n', 'mine.txt': 'mine\n' })
    const git = (...words: readonly string[]): string => execFileSync('git', words, { cwd, encoding: 'utf8' }).trim()
    git('config', 'user.name', 'u')
    git('config', 'user.email', 'u@u')
    git('checkout', '-qb', 'main')
    git('add', '.')
    git('commit', '-qm', 'first')
    const seen: unknown[] = []
    const run = await each(
      cwd,
      [
        [cmd('echo two > a.txt; mkdir d; echo n > d/n.txt')],
        [cmd('git add -A; git commit -qm second')],
        [cmd('echo three > a.txt; rm d/n.txt; cat mine.txt')],
        [say('done')],
      ],
      (request) => {
        if (request === 1) writeFileSync(join(cwd, 'mine.txt'), 'changed by me\n')
        seen.push([
          readFileSync(join(cwd, 'a.txt'), 'utf8'),
          existsSync(join(cwd, 'd/n.txt')),
          git('log', '-1', '--format=%s'),
        ])
      },
    )
    expect(run.code).toBe(0)
    expect(seen).toEqual([
      ['one\n', false, 'first'],
      ['two\n', true, 'first'],
      ['two\n', true, 'second'],
      ['three\n', false, 'second'],
    ])
    expect(JSON.stringify(run.requests[3]?.body).includes('changed by me')).toBe(true)
    expect(run.last).toMatchObject({ type: 'turn.completed', transaction: { outcome: 'landed', can_undo: true } })
    expect((await run.again('changes', '--last', '--diff')).stdout).toContain('+three')
    expect((await run.again('undo', '--last')).code).toBe(0)
    expect([readFileSync(join(cwd, 'a.txt'), 'utf8'), git('log', '--format=%s')]).toEqual(['one\n', 'first'])
    expect(readFileSync(join(cwd, 'mine.txt'), 'utf8')).toBe('changed by me\n')
  })

  test('a failed run leaves what has landed, and nothing lands while a command goes on', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const seen: string[] = []
    const run = await each(
      cwd,
      [[cmd('echo two > a.txt')], [cmd('echo three > a.txt; sleep 30', { yield_time_ms: 250 })], [say('not done')]],
      () => void seen.push(readFileSync(join(cwd, 'a.txt'), 'utf8')),
      ['--verify', 'false', '--verify-attempts', '1'],
    )
    expect(run.code).toBe(1)
    expect(seen.slice(0, 3)).toEqual(['one\n', 'two\n', 'two\n'])
    const told = 'still running: the changes land when they have ended'
    expect(JSON.stringify(run.requests[2]?.body).includes(told)).toBe(true)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
    expect((await run.again('apply', '--last')).code).toBe(0)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('three\n')
  })

  test('what a command that went on has written is neither landed before it ends nor lost', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const seen: boolean[] = []
    const run = await each(
      cwd,
      [
        [cmd('(sleep 1; echo late > late.txt); echo end', { yield_time_ms: 250 })],
        [cmd('sleep 2')],
        [cmd('cat late.txt')],
        [say('done')],
      ],
      () => void seen.push(existsSync(join(cwd, 'late.txt'))),
    )
    expect(run.code).toBe(0)
    expect(seen).toEqual([false, false, true, true])
    expect(readFileSync(join(cwd, 'late.txt'), 'utf8')).toBe('late\n')
  })

  test('a view that is an overlay is refused', async () => {
    const run = await each(repository({ a: 'a' }), [[say('x')]], () => undefined, ['--view', 'overlay'])
    expect([run.code, run.requests.length]).toEqual([5, 0])
    expect(run.stderr).toContain('changes that land while the run works need a copy')
  })
})
