import { expect, test } from 'vitest'
import type { HistoryItem, ModelEvent } from '../../../engine/core/model.ts'
import { fittingId, fittingName, mistralId } from '../../../engine/models/call-ids.ts'
import { withOwnIds } from '../../../engine/models/own-ids.ts'

test('an id that a provider accepts is sent unchanged; others are converted to accepted ones, and two different ids never become the same', () => {
  expect(fittingId('toolu_01-a')).toBe('toolu_01-a')
  const odd = ['a.b', 'a:b', 'a_b', `${'x'.repeat(70)}1`, `${'x'.repeat(70)}2`]
  for (const most of [40, 64]) {
    const sent = odd.map((id) => fittingId(id, most))
    expect(new Set(sent).size).toBe(odd.length)
    for (const id of sent) expect(id).toMatch(new RegExp(`^[a-zA-Z0-9_-]{1,${most}}$`))
  }
  expect(odd.map(mistralId).filter((id) => !/^[a-z0-9]{9}$/.test(id))).toEqual([])
  expect(mistralId('AbC123xyZ')).toBe('AbC123xyZ')
  expect(fittingName('functions exec', 9)).toBe('functions')
})

const called = (id: string, input = '{}', name = 'ls'): ModelEvent => ({
  type: 'tool_call',
  call: { id, name, kind: 'function', input },
})

async function idsOf(events: readonly ModelEvent[], taken: readonly string[]): Promise<readonly string[]> {
  async function* say() {
    yield* events
  }
  const history = taken.map((id) => called(id) as HistoryItem)
  const ids: string[] = []
  for await (const event of withOwnIds(history, say())) if (event.type === 'tool_call') ids.push(event.call.id)
  return ids
}

test('calls get ids of their own even if a server numbers them from the start in each response', async () => {
  const again = called('call_0', '{"a":1}')
  expect(await idsOf([called('call_0'), called('call_1'), again], ['call_0', 'call_0_2'])).toEqual([
    'call_0_3',
    'call_1',
    'call_0_4',
  ])
})

test('a call that is delivered twice is one call; with another name or other arguments, it is another', async () => {
  const twice = [called('a', '{"x":1,"y":2}'), called('a', '{ "y": 2, "x": 1 }'), called('a', '{"x":1,"y":2}')]
  expect(await idsOf(twice, [])).toEqual(['a'])
  expect(await idsOf(twice, ['a'])).toEqual(['a_2'])
  expect(await idsOf([called('a'), called('a', '{"x":1}'), called('a', '{}', 'cat')], [])).toEqual(['a', 'a_2', 'a_3'])
  expect(await idsOf([called('a', '{x'), called('a', '{x'), called('a', '{y')], [])).toEqual(['a', 'a_2'])
})

test('a failed attempt uses up no ids', async () => {
  const retry: ModelEvent = { type: 'retry', attempt: 1, of: 2, reason: 'cut', waitMs: 0 }
  expect(await idsOf([called('a'), retry, called('a')], [])).toEqual(['a', 'a'])
})
