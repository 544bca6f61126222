import { expect, test } from 'vitest'
import { compactionLimit } from '../../../engine/app/compaction-limit.ts'
import { modelFacts } from '../../../engine/models/index.ts'
import { Conversation } from '../../../engine/run/conversation.ts'
import type { HistoryItem } from '../../../engine/core/model.ts'
import { noUsage } from '../../../engine/core/usage.ts'
import { noRollout } from '../../../engine/session/rollout.ts'

const said = (characters: number): HistoryItem => ({ type: 'message', role: 'user', text: 'x'.repeat(characters) })
const answer: HistoryItem = { type: 'message', role: 'assistant', text: '' }
const usage = (inputTokens: number) => ({ ...noUsage, inputTokens })

test('the token count of a request is the provider’s last count plus an estimate of what was added', () => {
  const conversation = new Conversation(noRollout, undefined, 1000)
  conversation.add(said(3600))
  expect(conversation.tokens).toBe(2000)
  conversation.addResponse([answer], usage(3000), undefined)
  expect(conversation.tokens).toBe(3000)
  // The provider counted 50% more tokens than were estimated, so later estimates are raised by the same factor.
  conversation.add(said(3600))
  expect(conversation.tokens).toBe(4500)
})

test('after a compaction, instructions and tools still count', () => {
  const conversation = new Conversation(noRollout, undefined, 1000)
  conversation.add(said(3600))
  conversation.addResponse([answer], usage(3000), undefined)
  conversation.replace([said(36)])
  expect(conversation.tokens).toBe(1515)
})

test('a resumed session keeps its token count', () => {
  const history = [said(3600), answer, said(360)]
  const earlier = { history, original: history }
  expect(new Conversation(noRollout, { ...earlier, counted: { tokens: 5000, items: 2 } }, 1000).tokens).toBe(5100)
  expect(new Conversation(noRollout, earlier, 1000).tokens).toBe(2100)
})

test.each([
  ['gpt-5.5', {}, 272_000],
  ['gpt-5.4-mini', {}, 320_000],
  ['claude-opus-5-5', {}, 800_000],
  ['claude-haiku-5-5', {}, 100_000],
  ['gpt-5.5', { compact_at: 0.5 }, 525_000],
  ['gpt-5.5', { model_auto_compact_token_limit: 7 }, 7],
  ['somebody/unknown', {}, undefined],
])('a conversation with %s, configured as %j, is summed up at %s tokens', (model, settings, limit) => {
  expect(compactionLimit(modelFacts(model, {}), settings)).toBe(limit)
})
