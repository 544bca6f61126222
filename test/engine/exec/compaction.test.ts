import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../engine/core/events.ts'
import { call, freeform, say, think, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access', '--json']
const patch = '*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n'
const overflow: Reply = { status: 400, body: { error: { message: 'too long', code: 'context_length_exceeded' } } }

const input = ({ requests }: Exec, index: number): string => JSON.stringify(requests[index]?.body)
const compactions = ({ events }: Exec): readonly Item[] =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'context_compaction' ? [event.item] : [],
  )

/** A conversation whose fourth request would exceed 30,000 tokens. The fourth reply is the summary. */
const growing: readonly Reply[] = [
  {
    say: [think('hm', 'opaque-1'), call('exec_command', { cmd: 'cat README.md' })],
    usage: { input: 10_000, output: 10 },
  },
  { say: [freeform('apply_patch', patch)], usage: { input: 12_000, output: 10 } },
  { say: [think('so', 'opaque-3'), call('exec_command', { cmd: 'exit 7' })], usage: { input: 29_990, output: 20 } },
  { say: [say('Goal: the first task. Open steps: finish.')], usage: { input: 31_000, output: 30 } },
  { say: [say('all done')], usage: { input: 300, output: 10 } },
]
const limit = ['-c', 'model_auto_compact_token_limit=30000']

describe('a conversation that fills its share of the window', () => {
  test('is summarized by the model, with requests, changes, reads, commands and its last turn', async () => {
    const ended = await exec(growing, [...open, ...limit, 'first task'], {
      cwd: repository({ 'README.md': 'read me '.repeat(500) }),
    })
    expect(ended.code).toBe(0)
    expect(ended.requests).toHaveLength(5)
    const asked = input(ended, 3)
    expect(asked).toContain('Summarize your work so far')
    // The request for the summary begins with the whole conversation, exactly as it was sent before.
    const sent = (index: number): readonly unknown[] => (ended.requests[index]?.body as { input: unknown[] }).input
    expect(sent(3).slice(0, sent(2).length)).toEqual(sent(2))

    const after = input(ended, 4)
    expect(after).toContain('Your summary\\nGoal: the first task. Open steps: finish.')
    expect(after).toContain('## Asked for\\n- first task')
    expect(after).toContain('## Files changed\\n- made.txt')
    expect(after).toContain('## Files read\\n- README.md')
    expect(after).toContain('`exit 7`: Process exited with code 7')
    // The next request contains the current state of the tree and the recently used files, with changed files first.
    expect(after).toMatch(
      /## Git now\\nbranch \w+, 2 files changed or new since the last commit\\n- \?\? README.md\\n- \?\? made.txt/,
    )
    expect(after).toMatch(
      /## Recently used files, as they are now\\n### made.txt\\nmade\\n\\n\\n### README.md\\nread me /,
    )
    expect(after).toContain('opaque-3')
    expect(after).not.toContain('opaque-1')
    expect(compactions(ended)).toMatchObject([
      { trigger: 'limit', status: 'completed', summary: expect.stringContaining('Open steps') },
    ])
    // A summary costs money, but doesn't count as a turn of the model.
    expect(ended.events.at(-1)).toMatchObject({ usage: { input_tokens: 83_290, output_tokens: 80 } })
  })

  test('stays complete in the session, which continues from the summary', async () => {
    const home = tempDir()
    const cwd = repository({ 'README.md': 'read me '.repeat(500) })
    await exec(growing, [...open, ...limit, 'first task'], { cwd, home })
    const sessions = join(home, '.local/state/portcullis/sessions')
    const rollout = readFileSync(join(sessions, readdirSync(sessions)[0] ?? '', 'rollout.jsonl'), 'utf8')
    expect(rollout).toContain('opaque-1')

    for (const command of ['resume', 'fork']) {
      const more = await exec([[say('ok')]], [...open, command, '--last', 'second task'], { cwd, home })
      expect(more.code).toBe(0)
      expect(input(more, 0)).toContain('Open steps: finish.')
      expect(input(more, 0)).toContain('second task')
      expect(input(more, 0)).not.toContain('opaque-1')
    }
    const again = await exec(
      [[say('Goal: both.')], [say('ok')]],
      [...open, '-c', 'model_auto_compact_token_limit=1', 'resume', '--last', 'third task'],
      { cwd, home },
    )
    for (const goal of ['first task', 'second task', 'third task']) expect(input(again, 1)).toContain(`- ${goal}`)
  })

  test('takes its share from the configured window', async () => {
    const window = ['-c', 'model_context_window=60000', '-c', 'compact_at=0.5']
    const ended = await exec(growing, [...open, ...window, 'x'], { cwd: repository() })
    expect(compactions(ended)).toHaveLength(1)
  })

  test('is not compacted before every request if it cannot be made smaller', async () => {
    const replies = (index: number): Reply =>
      index % 2 === 0 ? [say('a summary')] : index < 5 ? [call('exec_command', { cmd: `echo ${index}` })] : [say('ok')]
    const ended = await exec(replies, [...open, '-c', 'model_auto_compact_token_limit=1', 'x'], { cwd: repository() })
    expect(ended.code).toBe(0)
    expect(compactions(ended).length).toBeLessThan(4)
  })

  test('is not compacted any more if the provider counts as many tokens after each summary, and that is said', async () => {
    const requests = 14
    const replies = (index: number): Reply => {
      const full = { usage: { input: 40_000, output: 10 } }
      // The second and the fourth request are for a summary, and get an empty one.
      if (index === 1 || index === 3) return { say: [], ...full }
      return { say: [index < requests - 1 ? call('exec_command', { cmd: `echo ${index}` }) : say('ok')], ...full }
    }
    const ended = await exec(replies, [...open, ...limit, 'x'], { cwd: repository() })
    expect(ended.code).toBe(0)
    expect(compactions(ended)).toHaveLength(2)
    expect(ended.requests).toHaveLength(requests)
    const said = ended.events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'error' ? [event.item.message] : [],
    )
    expect(said).toEqual([
      expect.stringMatching(/isn't summarized any more: .*40010 tokens.*30000\..*model_context_window/),
    ])
  })
})

describe('a conversation that the provider rejects as too long', () => {
  test('is summarized once, from what still fits, and the run continues', async () => {
    const long = call('exec_command', { cmd: 'seq 100000; echo the end' })
    const ended = await exec(
      [[long, long, long, long], overflow, [say('Goal: x.')], [say('all done')]],
      [...open, 'first task'],
      {
        cwd: repository(),
      },
    )
    expect(ended.code).toBe(0)
    expect(input(ended, 2).length).toBeLessThan(input(ended, 1).length / 1.5)
    expect(input(ended, 3)).toContain('Goal: x.')
    expect(input(ended, 3)).toContain('the end')
    expect(compactions(ended)).toMatchObject([{ trigger: 'overflow', status: 'completed' }])
  })

  test('continues from a list of what was done if even the summary is too long', async () => {
    const ended = await exec([overflow, overflow, [say('all done')]], [...open, 'first task'], { cwd: repository() })
    expect(ended.code).toBe(0)
    expect(input(ended, 2)).toContain('## Asked for\\n- first task')
    expect(input(ended, 2)).not.toContain('Your summary')
  })

  test('ends the run with exit code 6 if that was not enough', async () => {
    const ended = await exec([overflow, [say('Goal: x.')], overflow], [...open, 'first task'], { cwd: repository() })
    expect(ended.code).toBe(6)
    expect(ended.requests).toHaveLength(3)
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'provider',
      error: { message: expect.stringMatching(/too long.*already summarized/) },
    })
  })
})
