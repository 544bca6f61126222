import { expect, test } from 'vitest'
import { RepeatWatch } from '../../../engine/run/repeat-watch.ts'

const call = { id: 'a', name: 'write_stdin', kind: 'function', input: '{"session_id":1}' } as const

test('waiting for a running command does not count as a loop', () => {
  const watch = new RepeatWatch()
  for (let time = 0; time < 20; time++) {
    expect(watch.see(call, 'Process running with session ID 1\nWall time: 10.0 seconds\nOutput:\n')).toBeUndefined()
  }
  expect(watch.exhausted()).toBeUndefined()
})

test('the duration of a call, and the file of its output, make no difference', () => {
  const watch = new RepeatWatch()
  const notes = [1, 2, 3].map((time) => watch.see(call, `Wall time: ${time}.5 seconds\nsee /s/output-${time}.txt`))
  expect(notes).toEqual([undefined, undefined, expect.stringContaining('3 times in a row')])
})
