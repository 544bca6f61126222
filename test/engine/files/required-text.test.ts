import fc from 'fast-check'
import { expect, test } from 'vitest'
import { requiredText } from '../../../engine/tools/files/required-text.ts'
import { tries } from '../../support/tries.ts'

const table: readonly (readonly [string, string | undefined])[] = [
  ['createServer', 'createServer'],
  ['function (\\w+)\\(', 'function '],
  ['\\bexport const \\w+ = ', 'export const '],
  ['colou?r', 'colo'],
  ['ab+c', 'ab'],
  ['a\\.b\\.c', 'a.b.c'],
  ['x{2,3}yes', 'yes'],
  ['a{b', 'a{b'],
  ['one|two', undefined],
  ['(one|two) three', ' three'],
  ['(?!bad)good', 'good'],
  ['((a)(b[)]))tail', 'tail'],
  ['[abc]+', undefined],
  ['\\x41bcd', undefined],
  ['(.)\\1abc', undefined],
  ['^.*$', undefined],
  ['😀😀ok', 'ok'],
  ['größe', 'größe'],
]

test.each(table)('of %j it is %j', (pattern, text) => {
  expect(requiredText(pattern, false)).toBe(text)
})

test('if case is ignored, only an ASCII text', () => {
  expect(requiredText('größe', true)).toBe('gr')
  expect(requiredText('Server', true)).toBe('Server')
})

test('every match of an expression contains the text', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'c',
    'ä',
    '😀',
    '\\.',
    '.',
    '\\w',
    '[ab]',
    '[^c]',
    '(ab|c)',
    '(?:bc)',
    '(?=a)',
    '^',
    '$',
    '\\b',
    '\\n',
    '{',
    '}',
  )
  const quantified = fc
    .tuple(piece, fc.constantFrom('', '', '', '?', '*', '+', '{0,2}', '{2}', '*?'))
    .map((two) => two.join(''))
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'c', 'A', 'B', 'ä', '😀', '.', '\n', '{', '}', ' '),
    maxLength: 12,
  })
  fc.assert(
    fc.property(
      fc.array(quantified, { maxLength: 8 }),
      fc.boolean(),
      fc.array(text, { maxLength: 8 }),
      (parts, ignoreCase, texts) => {
        const pattern = parts.join('')
        let expression: RegExp
        try {
          expression = new RegExp(pattern, ignoreCase ? 'im' : 'm')
        } catch {
          return
        }
        const required = requiredText(pattern, ignoreCase)
        if (required === undefined) return
        for (const one of texts) {
          const [match] = expression.exec(one) ?? []
          if (match === undefined) continue
          const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value)
          expect(fold(match)).toContain(fold(required))
        }
      },
    ),
    { numRuns: tries(5000) },
  )
})
