import { expect, test } from 'vitest'
import { startJob } from '../support/runner.ts'

const given = { prompt: 'go', model: 'gpt-5.5', 'api-key': 'sk-test-key' }

test.each(['verify', 'max-cost', 'timeout', 'output-schema', 'evidence-key'])(
  'an input with the value of an unset variable stops the step before the run: %s',
  async (name) => {
    const { code, log, outputs } = await startJob({}).step('run', { ...given, [name]: '' })
    expect([code, outputs]).toEqual([1, {}])
    expect(log).toMatch(new RegExp(`The input '${name}' (?:is empty|must be true or false)`))
  },
)

test('a review that should fail on findings is stopped if the severity is empty', async () => {
  const { code, log } = await startJob({}).step('run', {
    ...given,
    review: 'true',
    'review-base': 'HEAD',
    'fail-on': '',
  })
  expect([code, log]).toEqual([1, expect.stringContaining("The input 'fail-on' is empty")])
})
