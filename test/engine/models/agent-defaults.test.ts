import { describe, expect, test } from 'vitest'
import { buildChatBody } from '../../../engine/models/chat-request.ts'
import { buildMessagesBody } from '../../../engine/models/messages-request.ts'
import { buildResponsesBody } from '../../../engine/models/responses-request.ts'
import { request } from './conversation.ts'

const agent = request({ requestedBy: 'agent' })

describe('a request of an agent uses the settings of the maker’s own agent', () => {
  test.each([
    ['gpt-5.5', 'medium', 'low'],
    ['gpt-6.1-sol', 'medium', 'low'],
    ['gpt-5.3-codex', 'medium', 'low'],
    ['gpt-5.1-codex', 'medium', undefined],
    ['gpt-5.5-pro', undefined, undefined],
    ['gpt-5.2-chat-latest', undefined, undefined],
    ['gpt-4.1', undefined, undefined],
    ['o3', undefined, undefined],
  ])('%s: effort %s, verbosity %s', (model, effort, verbosity) => {
    const body = buildResponsesBody(model, agent)
    expect([body.reasoning?.effort, body.text?.verbosity]).toEqual([effort, verbosity])
  })

  test.each([
    ['claude-opus-5-5', { type: 'adaptive' }, 'high', 64_000],
    ['claude-haiku-5-5', { type: 'adaptive' }, 'high', 64_000],
    ['claude-fable-5-1', { type: 'adaptive' }, 'high', 64_000],
    ['claude-opus-4-8', { type: 'adaptive' }, 'high', 64_000],
    ['us.anthropic.claude-sonnet-4-6-v1', { type: 'adaptive' }, 'high', 64_000],
    ['claude-haiku-4-5', { type: 'enabled', budget_tokens: 20_000 }, undefined, 64_000],
    ['claude-opus-4-1', { type: 'enabled', budget_tokens: 20_000 }, undefined, 32_000],
    ['claude-3-5-sonnet-latest', undefined, undefined, 8192],
  ])('%s: %j, effort %s, %s tokens', (model, thinking, effort, tokens) => {
    const body = buildMessagesBody(model, agent)
    expect([body.thinking, body.output_config?.effort, body.max_tokens]).toEqual([thinking, effort, tokens])
  })

  test('the user’s settings win', () => {
    const said = request({ requestedBy: 'agent', reasoningEffort: 'low', verbosity: 'high' })
    expect(buildResponsesBody('gpt-5.5', said)).toMatchObject({
      reasoning: { effort: 'low' },
      text: { verbosity: 'high' },
    })
    expect(buildMessagesBody('claude-opus-4-8', said)).toMatchObject({ output_config: { effort: 'low' } })
    expect(buildChatBody('gpt-5.5', said)).toMatchObject({ reasoning_effort: 'low', verbosity: 'high' })
  })
})

test('a side question uses the provider’s defaults, and so does any model behind a server that imitates an API', () => {
  const gpt = buildResponsesBody('gpt-5.5', request())
  expect([gpt.reasoning, gpt.text]).toEqual([undefined, undefined])
  const claude = buildMessagesBody('claude-opus-4-8', request())
  expect([claude.thinking, claude.output_config]).toEqual([undefined, undefined])
  const local = buildChatBody('qwen3', request({ requestedBy: 'agent', verbosity: 'low' }))
  expect([local.reasoning_effort, local.verbosity]).toEqual([undefined, undefined])
})
