import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../engine/core/events.ts'
import { Recorder } from '../../../engine/run/recorder.ts'

function recorded(act: (recorder: Recorder) => void): readonly RunEvent[] {
  const events: RunEvent[] = []
  act(new Recorder([{ event: (event) => events.push(event) }]))
  return events
}

const command = {
  type: 'command_execution',
  command: 'true',
  aggregated_output: '',
  exit_code: null,
  status: 'in_progress',
  call_id: 'c',
  cwd: '/w',
} as const

test('a secret in a streamed message is not shown, however the message is split', () => {
  const told: string[] = []
  const recorder = new Recorder([{ event: () => undefined, delta: (text) => void told.push(text) }])
  const key = `ghp_${'a1B2c3D4'.repeat(5)}`
  for (const piece of `Use ${key} there.\n`) recorder.delta(piece)
  expect(told.join('')).toBe('Use [redacted] there.\n')
})

describe('a run', () => {
  test('ends with turn.completed if nothing went wrong', () => {
    expect(recorded((recorder) => recorder.end('done', undefined)).map(({ type }) => type)).toEqual(['turn.completed'])
  })

  test('ends with an error and a turn.failed that names class and exit code', () => {
    const events = recorded((recorder) => recorder.end('provider', 'no answer'))
    expect(events).toMatchObject([
      { type: 'error', message: 'no answer' },
      { type: 'turn.failed', error: { message: 'no answer' }, reason: 'provider', exit_code: 6 },
    ])
  })

  test('closes what is still open before its terminal event', () => {
    const events = recorded((recorder) => {
      recorder.open(command)
      recorder.end('interrupted', 'Interrupted.')
    })
    expect(events.map(({ type }) => type)).toEqual(['item.started', 'item.completed', 'error', 'turn.failed'])
    expect(events[1]).toMatchObject({ item: { id: 'item_0', status: 'failed' } })
  })

  test('an item is completed once, however often that is requested', () => {
    const events = recorded((recorder) => {
      const item = recorder.open(command)
      item.complete({ status: 'completed', exit_code: 0 })
      item.complete({ status: 'failed' })
    })
    expect(events.filter(({ type }) => type === 'item.completed')).toHaveLength(1)
  })

  test('adds up the usage of its responses', () => {
    const usage = {
      inputTokens: 1,
      cachedInputTokens: 2,
      cacheWriteInputTokens: 3,
      outputTokens: 4,
      reasoningOutputTokens: 5,
    }
    const events = recorded((recorder) => {
      recorder.addUsage(usage)
      recorder.addUsage(usage)
      recorder.end('done', undefined)
    })
    expect(events[0]).toMatchObject({
      usage: {
        input_tokens: 2,
        cached_input_tokens: 4,
        cache_write_input_tokens: 6,
        output_tokens: 8,
        reasoning_output_tokens: 10,
      },
    })
  })
})
