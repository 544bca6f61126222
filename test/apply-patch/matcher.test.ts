import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { passes, SearchableFile } from '../../apply-patch/match/passes.ts'
import { reductions, seekNaively } from './naive-matcher.ts'
import { tries } from '../support/tries.ts'

const signs = [
  'a',
  'b',
  'é',
  ' ',
  '\t',
  '\u00A0',
  '\u0085',
  '\u2003',
  '\u2000',
  '\uFEFF',
  '–',
  '-',
  '“',
  '"',
  '’',
  "'",
  '…',
]
const line = fc.array(fc.constantFrom(...signs), { maxLength: 5 }).map((parts) => parts.join(''))
const few = fc
  .array(line, { minLength: 1, maxLength: 3 })
  .chain((pool) =>
    fc.tuple(
      fc.array(fc.constantFrom(...pool, ''), { maxLength: 40 }),
      fc.array(fc.oneof(fc.constantFrom(...pool), line), { minLength: 1, maxLength: 5 }),
      fc.nat(10),
    ),
  )

function seek(lines: readonly string[], block: readonly string[], from: number): unknown {
  const needles = block.map((text) => {
    const bytes = Buffer.from(text)
    return { bytes, start: 0, end: bytes.length }
  })
  const file = SearchableFile.of(Buffer.from(lines.map((text) => `${text}\n`).join('')), needles)
  for (const [pass, name] of passes.entries()) {
    const hits = file.lines(name).find(file.block(name, 0, block.length), from, 1000)
    if (hits.length > 0) return { pass, hits }
  }
  return undefined
}

describe('the linear matcher', () => {
  test('agrees with a naive one on random files', () => {
    fc.assert(
      fc.property(few, ([lines, block, from]) => {
        // A byte-order mark at the beginning of a file is not part of its first line.
        fc.pre(lines[0]?.startsWith('\uFEFF') !== true)
        expect(seek(lines, block, from)).toEqual(seekNaively(lines, block, from))
      }),
      { numRuns: tries(3000) },
    )
  })

  test('agrees with a naive one on files of almost equal lines', () => {
    const nearly = fc.tuple(
      fc.array(fc.constantFrom('x', 'x', 'x', 'x ', 'y'), { minLength: 10, maxLength: 300 }),
      fc.array(fc.constantFrom('x', 'x', 'x', 'y'), { minLength: 1, maxLength: 20 }),
      fc.nat(50),
    )
    fc.assert(
      fc.property(nearly, ([lines, block, from]) => {
        expect(seek(lines, block, from)).toEqual(seekNaively(lines, block, from))
      }),
      { numRuns: tries(1000) },
    )
  })

  test('trims and maps every code point like the naive one', () => {
    const wrong: string[] = []
    for (let point = 1; point <= 0x3100; point++) {
      const sign = String.fromCodePoint(point)
      if (sign === '\n' || sign === '\r') continue
      for (const [text, other] of [
        [`${sign}a${sign}`, 'a'],
        [`a${sign}b`, 'a b'],
        [`a${sign}b`, 'a-b'],
        [`a${sign}b`, "a'b"],
        [`a${sign}b`, 'a"b'],
      ] as const) {
        const expected = reductions.findIndex((reduce) => reduce(text) === reduce(other))
        const found = seek(['first', text], [other], 0) as { pass: number } | undefined
        if ((found?.pass ?? -1) !== expected) wrong.push(`U+${point.toString(16)} in "${text}"`)
      }
    }
    expect(wrong).toEqual([])
  })
})
