import { expect, test } from 'vitest'
import { cached } from '../../../engine/models/messages-cache.ts'
import type { WireMessage } from '../../../engine/models/messages-turns.ts'

const said = (text: string): WireMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const answered: WireMessage = { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }
const own = { name: 'grep' }
const server = { name: 'mcp__maps__route' }

/** Returns the parts of a request that have a cache mark, in the order in which the provider caches them. */
function marks(parts: Parameters<typeof cached>[0]): readonly string[] {
  const { tools = [], system = [], messages } = cached(parts)
  const of = (kind: string, marked: readonly unknown[]): readonly string[] =>
    marked.flatMap((one, at) => (JSON.stringify(one).includes('cache_control') ? [`${kind} ${at}`] : []))
  return [...of('tool', tools), ...of('system', system), ...of('message', messages)]
}

test('the fixed instructions and the description of the environment are cached separately', () => {
  const parts = { tools: [own], instructions: ['fixed', 'here'], messages: [said('a'), answered, said('b')] }
  expect(marks(parts)).toEqual(['system 0', 'system 1', 'message 0', 'message 2'])
})

test('our tools are cached separately from those of servers, which follow them', () => {
  const parts = { tools: [own, own, server], instructions: ['fixed', 'here'] }
  expect(marks({ ...parts, messages: [said('a')] })).toEqual(['tool 1', 'system 0', 'system 1', 'message 0'])
  const later = [said('a'), answered, said('b'), answered, said('c')]
  expect(marks({ ...parts, messages: later })).toEqual(['tool 1', 'system 0', 'message 2', 'message 4'])
})

test('absent parts are not marked', () => {
  expect(marks({ tools: [server], instructions: [], messages: [said('a')] })).toEqual(['message 0'])
})
