import { expect, test } from 'vitest'
import { call, say, think, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access', '--json']

/** Replies of runs whose result contains nothing visible: the last message or the plan is blank or missing. */
const nothings: readonly (readonly [string, readonly Reply[], readonly string[]])[] = [
  ['zero-width spaces', [1, 2, 3].map(() => [say('\u200b\u2060')]), []],
  ['codes for a terminal', [1, 2, 3].map(() => [say('\u001b\u0007')]), []],
  [
    'words before a call, and nothing behind it',
    [[say('Looking.'), call('exec_command', { cmd: 'true' })], [], [], []],
    [],
  ],
  ['a word, and a blank one behind it', [1, 2, 3].map(() => [say('x'), say(' ')]), []],
  ['thoughts', [1, 2, 3].map((at) => [think('hm', `sealed-${at}`)]), []],
  ['a plan of blanks', [[call('exit_plan_mode', { plan: ' \n' })], [], [], []], ['--plan']],
]

test.each(nothings)('a run that delivers %s does not succeed', async (_, replies, args) => {
  const { code, events } = await exec(replies, [...open, ...args, 'go'], { cwd: repository() })
  expect([1, 6]).toContain(code)
  expect(events.at(-1)).toMatchObject({
    type: 'turn.failed',
    error: { message: expect.stringMatching(/empty|without/) },
  })
})

test('even a schema that accepts anything refuses a call without a result', async () => {
  const anything = tempDir({ 'schema.json': '{}' })
  const { code, stdout } = await exec(
    [[call('structured_output', {})], [call('structured_output', { result: 7 })]],
    ['-m', 'gpt-4.1', '-s', 'danger-full-access', '--output-schema', `${anything}/schema.json`, 'go'],
    { cwd: repository() },
  )
  expect([code, stdout]).toEqual([0, '7\n'])
})
