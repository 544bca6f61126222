import { expect, test } from 'vitest'
import { counted } from '../../engine/core/text/counted.ts'

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
])('%i is written with its noun', (count, text) => {
  expect(counted(count, 'file')).toBe(text)
})

test('a plural can be given', () => {
  expect([counted(1, 'run is', 'runs are'), counted(3, 'run is', 'runs are')]).toEqual(['1 run is', '3 runs are'])
})
