import { describe, expect, test } from 'vitest'
import type { HistoryItem } from '../../../engine/core/model.ts'
import { leadingContext, recentTurns } from '../../../engine/run/recent-turns.ts'

const user = (text: string): HistoryItem => ({ type: 'message', role: 'user', text })
const context: HistoryItem = { type: 'message', role: 'developer', text: 'where you are' }
const turn = (id: string, size: number): HistoryItem[] => [
  { type: 'reasoning', text: '', opaque: id },
  { type: 'tool_call', call: { id: `${id}a`, name: 't', kind: 'function', input: '{}' } },
  { type: 'tool_call', call: { id: `${id}b`, name: 't', kind: 'function', input: '{}' } },
  { type: 'tool_result', callId: `${id}a`, output: 'x'.repeat(size), ok: true },
  { type: 'tool_result', callId: `${id}b`, output: 'x'.repeat(size), ok: true },
]
const history = [context, user('go'), ...turn('1', 400), ...turn('2', 400), user('more'), ...turn('3', 400)]

describe('the last part of a history', () => {
  test('never separates a call from its result, or a response from its reasoning, whatever fits', () => {
    for (let tokens = 0; tokens < 1000; tokens += 7) {
      const kept = recentTurns(history, tokens)
      const calls = kept.flatMap((item) => (item.type === 'tool_call' ? [item.call.id] : []))
      const results = kept.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : []))
      expect(results).toEqual(calls)
      expect(calls.length % 2).toBe(0)
      expect(kept.filter(({ type }) => type === 'reasoning')).toHaveLength(calls.length / 2)
      expect(calls).toContain('3a')
    }
  })

  test('is the whole history if it fits, except for the context at its beginning', () => {
    expect(recentTurns(history, 10_000)).toEqual(history.slice(1))
    expect(leadingContext(history)).toEqual([context])
  })

  test('keeps the last messages, and shortens results that are too long', () => {
    const kept = recentTurns([context, user('go'), ...turn('1', 40_000)], 1000)
    expect(kept).toHaveLength(5)
    for (const item of kept) {
      if (item.type === 'tool_result') expect(item.output).toMatch(/^x+\n\[\.\.\. \d+ characters.*\]\nx+$/)
    }
    expect(JSON.stringify(kept).length).toBeLessThan(6000)
  })
})
