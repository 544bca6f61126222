import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fits, truncateMiddle, truncateOutput } from '../../../engine/core/text/truncate.ts'

test('a text that fits is returned unchanged', () => {
  expect(truncateMiddle('a\nb\n', 4)).toEqual({ text: 'a\nb\n', omitted: 0 })
})

test('a long text keeps its first and last lines and says what is missing and where the full text is', () => {
  const text = Array.from({ length: 100 }, (_, line) => `line ${String(line).padStart(3, '0')}`).join('\n')
  const { text: cut, omitted } = truncateMiddle(text, 180, '/tmp/whole.txt')
  expect(cut).toContain('line 000\nline 001')
  expect(cut).toMatch(/line 098\nline 099$/)
  expect(cut).toContain(
    `[... ${omitted} characters, 80 lines left out after line 10; the whole output is in /tmp/whole.txt ...]`,
  )
  expect(omitted).toBeGreaterThanOrEqual(text.length - 180)
})

test('one endless line is also cut', () => {
  const { text } = truncateMiddle('x'.repeat(100_000), 100)
  expect(text.length).toBeLessThan(200)
})

test('a cut never splits a surrogate pair', () => {
  for (const limit of [10, 11, 12, 13]) {
    expect(truncateMiddle('😀'.repeat(50), limit).text.isWellFormed()).toBe(true)
  }
})

describe('by tokens and lines', () => {
  const numbers = Array.from({ length: 100 }, (_, at) => `${at + 1}\n`).join('')

  test('a text within both limits stays complete', () => {
    expect(truncateOutput(numbers, { tokens: 100, lines: 100 })).toEqual({ text: numbers, omitted: 0 })
  })

  test('if there are too many lines, those in the middle are cut, and the marker says after which line', () => {
    const { text } = truncateOutput(numbers, { tokens: 10_000, lines: 6 }, 'whole.txt')
    expect(text).toBe(
      '1\n2\n3\n\n[... 276 characters, 94 lines left out after line 3; the whole output is in whole.txt ...]\n98\n99\n100\n',
    )
  })

  test('a last line without a final newline counts as a line', () => {
    expect(truncateOutput('1\n2\n3\n4\n5', { tokens: 100, lines: 4 }).text).toMatch(/^1\n2\n\n\[.*\]\n4\n5$/)
  })

  test('if there are too many tokens, the middle is cut, even if there are few lines', () => {
    const { text } = truncateOutput(`first${'x'.repeat(10_000)}last`, { tokens: 100, lines: 10 })
    expect(text).toMatch(/^firstx+\n\[\.\.\. 9\d\d\d characters, 0 lines left out from within line 1 \.\.\.\]\nx+last$/)
  })

  test('a script with one token per character gets no more tokens than another', () => {
    const { text } = truncateOutput('漢'.repeat(1000), { tokens: 100, lines: 10 })
    expect(text.match(/漢/g)).toHaveLength(100)
    expect(truncateOutput('x'.repeat(1000), { tokens: 100, lines: 10 }).text.match(/x/g)).toHaveLength(400)
  })

  test('for any text, the result fits, is well formed, and consists of its beginning and end', () => {
    const piece = fc.constantFrom('a', 'ä', '漢', '😀', '\n', 'word ', '\t')
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 200 }).map((parts) => parts.join('')),
        fc.record({ tokens: fc.integer({ min: 4, max: 60 }), lines: fc.integer({ min: 2, max: 20 }) }),
        (text, limit) => {
          const { text: shown, omitted } = truncateOutput(text, limit)
          if (fits(text, limit)) {
            expect(shown).toBe(text)
          } else {
            const [head = '', tail = ''] = shown.split(/\n\[\.\.\. [^]*? \.\.\.\]\n/)
            expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
            expect(head.length + tail.length + omitted).toBe(text.length)
            expect([head, tail].every((part) => part.isWellFormed())).toBe(true)
            expect(fits(head + tail, limit)).toBe(true)
          }
        },
      ),
    )
  })
})
