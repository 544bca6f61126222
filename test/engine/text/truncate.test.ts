import { expect, test } from 'vitest'
import { truncateMiddle } from '../../../engine/text/truncate.ts'

test('a text that fits comes back as it is', () => {
  expect(truncateMiddle('a\nb\n', 4)).toEqual({ text: 'a\nb\n', omitted: 0 })
})

test('a long text keeps its first and last lines and says what is missing and where the whole is', () => {
  const text = Array.from({ length: 100 }, (_, line) => `line ${String(line).padStart(3, '0')}`).join('\n')
  const { text: cut, omitted } = truncateMiddle(text, 180, '/tmp/whole.txt')
  expect(cut).toContain('line 000\nline 001')
  expect(cut).toMatch(/line 098\nline 099$/)
  expect(cut).toContain(`[... ${omitted} characters, 80 lines left out; the whole output is in /tmp/whole.txt ...]`)
  expect(omitted).toBeGreaterThanOrEqual(text.length - 180)
})

test('one endless line is cut too', () => {
  const { text } = truncateMiddle('x'.repeat(100_000), 100)
  expect(text.length).toBeLessThan(200)
})

test('a cut never splits a surrogate pair', () => {
  for (const limit of [10, 11, 12, 13]) {
    expect(truncateMiddle('😀'.repeat(50), limit).text.isWellFormed()).toBe(true)
  }
})
