import { describe, expect, test } from 'vitest'
import { readChat } from '../../../engine/models/chat-events.ts'
import { readMessages } from '../../../engine/models/messages-events.ts'
import { readResponses } from '../../../engine/models/responses-events.ts'
import { comesTo } from './comes-to.ts'
import { oddChatAnswers, oddClaudeAnswers, oddResponsesAnswers } from './odd-answers.ts'

describe('Chat Completions', () => {
  test.each(oddChatAnswers)('$name: $right', async ({ events, right }) => {
    expect(await comesTo((stream) => readChat(stream, 'm', ['ls', 'cat', 'write_file']), events)).toBe(right)
  })
})

describe('Messages', () => {
  test.each(oddClaudeAnswers)('$name: $right', async ({ events, right }) => {
    expect(await comesTo((stream) => readMessages(stream, 'm', undefined), events)).toBe(right)
  })
})

describe('Responses', () => {
  test.each(oddResponsesAnswers)('$name: $right', async ({ events, right }) => {
    expect(await comesTo((stream) => readResponses(stream, 'm'), events)).toBe(right)
  })
})
