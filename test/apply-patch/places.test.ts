/** Where a chunk is applied, if its heading, its indentation or its context leaves that open, and when it is refused instead. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { parsePatch, PatchError, planPatch, type Failure, type PlanOptions } from '../../apply-patch/index.ts'
import { tries } from '../support/tries.ts'

const root = mkdtempSync(join(tmpdir(), 'apply-patch-places-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Outcome = { readonly text: string; readonly codes: readonly string[] } | { readonly failure: Failure | undefined }
type Settings = Pick<PlanOptions, 'mode' | 'ambiguous'>

/** Plans an update of a file, as `agent exec` does by default. */
async function plan(
  before: readonly string[],
  chunks: readonly string[],
  settings: Settings = { ambiguous: 'refuse' },
): Promise<Outcome> {
  writeFileSync(join(root, 'f'), before.map((line) => `${line}\n`).join(''))
  const text = ['*** Begin Patch', '*** Update File: f', ...chunks, '*** End Patch', ''].join('\n')
  try {
    const { patch, repairs } = parsePatch(text, { mode: settings.mode ?? 'lenient' })
    const { changes, warnings } = await planPatch(patch, { root, ...settings })
    const [change] = changes
    const bytes = change?.type === 'write' ? Buffer.concat(change.content) : Buffer.from('unchanged')
    return { text: bytes.toString(), codes: [...repairs, ...warnings].map(({ code }) => code) }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    return { failure: error.failures[0] }
  }
}

const becomes = (lines: readonly string[], ...codes: readonly string[]): Outcome => ({
  text: lines.map((line) => `${line}\n`).join(''),
  codes,
})
const ambiguous = (...fileLines: readonly number[]): object => ({ failure: { code: 'ambiguous', fileLines } })
const missing = (...types: readonly string[]): object => ({
  failure: { code: 'lines-not-found', causes: types.map((type) => expect.objectContaining({ type }) as unknown) },
})

const functions = ['def a():', '    x = 1', '    y = 2', '    z = 3', 'def b():', '    x = 1']

describe('a heading', () => {
  test('that is written again for the next chunk of the same function is found above the cursor', async () => {
    const chunks = ['@@ def a():', '-    y = 2', '+    y = 3', '@@ def a():', '-    z = 3', '+    z = 4']
    expect(await plan(functions, chunks)).toEqual(
      becomes(['def a():', '    x = 1', '    y = 3', '    z = 4', 'def b():', '    x = 1']),
    )
    expect(await plan(functions, chunks, { mode: 'strict' })).toHaveProperty('text')
  })
  test('above two places decides nothing, and below the first leaves one', async () => {
    const change = ['-    x = 1', '+    x = 2']
    expect(await plan(functions, ['@@ def a():', ...change])).toMatchObject(ambiguous(2, 6))
    expect(await plan(functions, ['@@ def b():', ...change])).toEqual(becomes([...functions.slice(0, 5), '    x = 2']))
  })
  test('that owns one place alone decides', async () => {
    const file = ['[s]', 'v', 'v', '[s]', 'v']
    const chosen = becomes(['[s]', 'v', 'v', '[s]', 'w'], 'heading-chose')
    expect(await plan(file, ['@@ [s]', '-v', '+w'])).toEqual(chosen)
    expect(await plan(['[s]', 'v', '[s]', 'v'], ['@@ [s]', '-v', '+w'])).toMatchObject(ambiguous(2, 4))
  })
  test.each(['@@ def alpha(on', '@@ def alpha(on...', '@@ def alpha(one, two): @@', '@@ def alpha(one, two): …'])(
    'that is abbreviated is understood where one place fits: %s',
    async (heading) => {
      const file = ['def alpha(one, two):', '    x = 1', 'def beta():', '    x = 2']
      const change = [heading, '-    x = 1', '+    x = 3']
      expect(await plan(file, change)).toEqual(
        becomes(['def alpha(one, two):', '    x = 3', 'def beta():', '    x = 2'], 'abbreviated-heading'),
      )
      for (const settings of [{}, { ambiguous: 'refuse' }] as const)
        expect(await plan([...file, '    x = 1'], change, settings)).toMatchObject(ambiguous(2, 5))
      expect(await plan(file, change, { mode: 'strict' })).toHaveProperty('failure.code', 'anchor-not-found')
    },
  )
  test('that is abbreviated may begin several lines, but decides nothing then', async () => {
    const file = ['x', 'def alpha(one):', 'x', 'def alpha(two):', 'y', 'z']
    expect(await plan(file, ['@@ def al', '-y', '+Y'])).toEqual(becomes(file.with(4, 'Y'), 'abbreviated-heading'))
    expect(await plan(file, ['@@ def al', '-x', '+X'])).toEqual(becomes(file.with(2, 'X'), 'abbreviated-heading'))
    expect(await plan([...file, 'x', 'x'], ['@@ def al', '-x', '+X'])).toMatchObject(ambiguous(3, 7, 8))
    expect(await plan(file, ['@@ def al', '+new'])).toMatchObject(ambiguous(2, 4))
    expect(await plan(file, ['@@ y', '@@ def al', '-z', '+Z'])).toHaveProperty('failure.code', 'anchor-not-found')
    const repeated = ['@@ def alpha(t', ' def alpha(two):', '-y', '+Y']
    expect(await plan(file, repeated)).toEqual(becomes(file.with(4, 'Y'), 'abbreviated-heading'))
  })
  test('chooses the place that the rule names, on random files', async () => {
    const line = fc.constantFrom<string>('h', 'x', 'y', 'z')
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 14 }),
        fc.constantFrom(['x'], ['x', 'y'], ['h', 'x']),
        async (file, block) => {
          const places = file.flatMap((_, at) => (block.every((one, index) => file[at + index] === one) ? [at] : []))
          const headingAbove = (place: number): number => file.lastIndexOf('h', place)
          const below = places.filter((place) => headingAbove(place) >= 0)
          const alone = below.filter((place) =>
            below.every((other) => other === place || headingAbove(other) !== headingAbove(place)),
          )
          const found = below.length === 1 ? below : alone.length === 1 ? alone : []
          const outcome = await plan(file, [
            '@@ h',
            ...block.slice(0, -1).map((one) => ` ${one}`),
            `-${block.at(-1)}`,
            '+new',
          ])
          const [place] = found
          const codes = below.length > 1 ? ['heading-chose'] : []
          if (place !== undefined)
            expect(outcome).toEqual(becomes(file.with(place + block.length - 1, 'new'), ...codes))
          else if (below.length > 1) expect(outcome).toMatchObject(ambiguous(...below.map((each) => each + 1)))
          else if ('codes' in outcome) expect(outcome.codes).toEqual(['split-chunk'])
          else expect(outcome.failure).toHaveProperty('expected')
        },
      ),
      { numRuns: tries(1000) },
    )
  })
})

describe('a chunk that fits several places', () => {
  const file = ['a', 'x', 'a', 'x', 'a']
  const change = ['-a', '+b']
  test('is refused with its places, or uses the first, with a warning', async () => {
    expect(await plan(file, ['@@', ...change])).toMatchObject(ambiguous(1, 3, 5))
    expect(await plan(file, ['@@', ...change], {})).toEqual(becomes(['b', 'x', 'a', 'x', 'a'], 'ambiguous-match'))
    expect(await plan(file, ['@@', ...change], { mode: 'strict' })).toMatchObject(ambiguous(1, 3, 5))
  })
  test('uses a line number only if one of the places is exactly there', async () => {
    expect(await plan(file, ['@@ -3 +3 @@', ...change])).toEqual(becomes(['a', 'x', 'b', 'x', 'a'], 'line-hint'))
    expect(await plan(file, ['@@ -4 +4 @@', ...change])).toMatchObject(ambiguous(1, 3, 5))
    expect(await plan(file, ['@@ -4 +4 @@', ...change], {})).toMatchObject({ codes: ['line-hint', 'ambiguous-match'] })
  })
})

describe('the section behind the line numbers of a unified diff', () => {
  const calls = ['void a() {', '  go();', '}', 'void b() {', '  go();', '}']
  const chunk = (numbers: string, section: string): readonly string[] => [
    `@@ ${numbers} @@ ${section}`,
    '-  go();',
    '+  stop();',
  ]
  const inB = [...calls.slice(0, 4), '  stop();', '}']
  test.each(['void b() {', 'void b()', 'void b'])('chooses a place if the numbers do not: %s', async (section) => {
    expect(await plan(calls, chunk('-90 +90', section))).toEqual(becomes(inB, 'line-hint', 'heading-chose'))
    expect(await plan(calls, chunk('-5 +5', section))).toEqual(becomes(inB, 'line-hint'))
  })
  test('makes the place uncertain if the numbers choose another', async () => {
    expect(await plan(calls, chunk('-2 +2', 'void b() {'))).toMatchObject(ambiguous(2, 5))
  })
  test.each(['void', 'int main(void)', 'void a() {'])(
    'decides nothing if it begins several lines or none, or is above several places: %s',
    async (section) => {
      expect(await plan(calls, chunk('-5 +5', section))).toEqual(becomes(inB, 'line-hint'))
      expect(await plan(calls, chunk('-90 +90', section))).toMatchObject(ambiguous(2, 5))
    },
  )
  test('is the beginning of a line, which indentation is a part of', async () => {
    const file = ['spec:', '  x: 1', '  end', '  spec:', '    x: 1', '  end', '  x: 2', '  end']
    expect(await plan(file, ['@@ -90 +90 @@ spec:', '   end', '+  y'])).toMatchObject(ambiguous(3, 6, 8))
  })
})

describe('lines that differ from the file in indentation', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
    [
      'less',
      ['if a:', '    if b:', '        go()'],
      ['@@', ' if b:', '-    go()', '+    if c:', '+        go()'],
      ['if a:', '    if b:', '        if c:', '            go()'],
    ],
    [
      'more',
      ['go()', 'end()'],
      ['@@', '-    go()', '+    if c:', '+        go()', '     end()'],
      ['if c:', '    go()', 'end()'],
    ],
    [
      'spaces for tabs',
      ['all:', '\tone', '\ttwo'],
      ['@@', ' all:', '     one', '+    more', '+', '     two'],
      ['all:', '\tone', '\tmore', '', '\ttwo'],
    ],
    [
      'tabs for spaces',
      ['a {', '  b {', '    c', '  }', '}'],
      ['@@', ' \tb {', '-\t\tc', '+\t\tif {', '+\t\t\tc', '+\t\t}'],
      ['a {', '  b {', '    if {', '      c', '    }', '  }', '}'],
    ],
    [
      'less, with a blank line that is indented',
      ['if a:', '    if b:', '        go()', '    end()'],
      ['@@', ' if b:', '     go()', '+', '+    ', '+    stay()', '+  ', ' end()'],
      ['if a:', '    if b:', '        go()', '', '        ', '        stay()', '      ', '    end()'],
    ],
    [
      'spaces for tabs, though nothing nearby is indented',
      ['all:', '\tone', 'end:', 'last:'],
      ['@@', '     one', ' end:', '+more:', '+    two', ' last:'],
      ['all:', '\tone', 'end:', 'more:', '\ttwo', 'last:'],
    ],
    ['only in context', ['  a', 'b', 'c'], ['@@', ' a', '-b', '+B', ' c'], ['  a', 'B', 'c']],
  ]
  test.each(cases)('%s: the added lines are indented as the file is', async (_, before, chunk, after) => {
    expect(await plan(before, chunk)).toEqual(becomes(after, 'fuzzy-match'))
    expect(await plan(before, chunk, { mode: 'strict' })).toHaveProperty('failure')
  })
  test('are no match if the lines around an insertion are shifted differently', async () => {
    const uneven = missing('uneven-indentation')
    expect(await plan(['  a', '      b'], ['@@', ' a', '+new', '   b'])).toMatchObject(uneven)
    expect(await plan(['  a', '        b'], ['@@', '-a', '-b', '+c'])).toMatchObject(uneven)
  })
  test('in other white space than tabs and spaces are no match, because its width is unknown', async () => {
    const file = ['a:', '\u00a0\u00a0b', '\u00a0\u00a0c']
    expect(await plan(file, ['@@', '   b', '-  c', '+  d'])).toMatchObject(missing('uneven-indentation'))
    expect(await plan(file, ['@@', ' \u00a0\u00a0b', '-\u00a0\u00a0c', '+\u00a0\u00a0d'])).toEqual(
      becomes(['a:', '\u00a0\u00a0b', '\u00a0\u00a0d']),
    )
  })
  test('in tabs are no match if nothing shows how many spaces of an added line are a tab', async () => {
    const chunk = ['@@', '         one', ' end:', '+more:', '+    two', ' last:']
    expect(await plan(['\tall:', '\t\tone', 'end:', 'last:'], chunk)).toHaveProperty(
      'text',
      '\tall:\n\t\tone\nend:\nmore:\n\ttwo\nlast:\n',
    )
    expect(await plan(['\t\t\tone', 'end:', 'last:'], chunk)).toHaveProperty('failure.code', 'lines-not-found')
  })
  test('of any depth keep their relative indentation', async () => {
    const depth = fc.nat(4)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('\t', '  ', '    '),
        depth,
        fc.array(depth, { minLength: 1, maxLength: 5 }),
        async (unit, by, added) => {
          const file = [`${unit.repeat(by)}a`, `${unit.repeat(by + 1)}b`, 'end']
          const outcome = await plan(file, [
            '@@',
            ' a',
            `-${unit}b`,
            ...added.map((level) => `+${unit.repeat(level)}n`),
          ])
          expect(outcome).toHaveProperty(
            'text',
            [file[0], ...added.map((level) => `${unit.repeat(by + level)}n`), 'end', ''].join('\n'),
          )
        },
      ),
      { numRuns: tries(300) },
    )
  })
})

describe('an insertion that was applied before', () => {
  const file = ['a', 'b', 'c']
  test.each([
    ['context above', ['@@', ' a', '+b']],
    ['context below', ['@@', '+b', ' c']],
    ['a heading', ['@@ a', '+b']],
    ['the end of the file', ['@@', '+b', '+c']],
    ['a replaced line that stays', ['@@', '-a', '+a', '+b']],
  ])('with %s is refused', async (_, chunk) => {
    expect(await plan(file, chunk)).toMatchObject(missing('already-applied'))
    expect(await plan(file, chunk, { mode: 'strict' })).toMatchObject(missing('already-applied'))
  })
  test('with another indentation than the file is refused too', async () => {
    const indented = ['if a:', '    b()', '    new()', '    c()']
    expect(await plan(indented, ['@@', ' b()', '+new()'])).toMatchObject(missing('already-applied'))
    expect(await plan(['all:', '\tone', '\tnew'], ['@@', '     one', '+    new'])).toMatchObject(
      missing('already-applied'),
    )
    expect(await plan(indented, ['@@', ' b()', '+  new()'])).toEqual(
      becomes(['if a:', '    b()', '      new()', '    new()', '    c()'], 'fuzzy-match'),
    )
  })
  test('with context on both sides is not taken for a chunk that leaves out a line', async () => {
    for (const chunk of [
      ['@@', ' a', '+b', ' c'],
      ['@@', ' a', '+b', ' c', '+d'],
    ])
      expect(await plan(['a', 'b', 'c', 'd', 'e'], chunk)).toMatchObject(missing('already-applied'))
  })
  test('is applied if only a blank line stands there, or if one of several lines differs', async () => {
    expect(await plan(['a', '', 'c'], ['@@', ' a', '+'])).toEqual(becomes(['a', '', '', 'c']))
    expect(await plan(file, ['@@', ' a', '+b', '+d'])).toEqual(becomes(['a', 'b', 'd', 'b', 'c']))
  })
})

describe('blank lines at the end of a chunk', () => {
  test('need not be in the file, which is told if they have a mark', async () => {
    expect(await plan(['a', 'b', 'c'], ['@@', '-a', '+A', ' '])).toEqual(
      becomes(['A', 'b', 'c'], 'blank-lines-left-out'),
    )
    expect(await plan(['a', 'b', 'c'], ['@@', '-a', '+A', ''])).toEqual(becomes(['A', 'b', 'c']))
    expect(await plan(['b', 'a'], ['@@', '-a', '-', '+A'])).toEqual(becomes(['b', 'A'], 'blank-lines-left-out'))
  })
  test('that are removed are not left out where they may be further below', async () => {
    const file = ['a', 'b', 'c', '', 'd']
    expect(await plan(file, ['@@', ' b', '-', '+new'])).toEqual(becomes(['a', 'b', 'c', 'new', 'd'], 'split-chunk'))
    expect(await plan(['a', 'b', 'c'], ['@@', '-a', '-', '+A'])).toHaveProperty('failure.code', 'lines-not-found')
  })
})

describe('a chunk whose lines are not one after the other', () => {
  const file = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  test('is split where an "@@" is missing', async () => {
    const chunk = ['@@', ' a', '-b', '+B', ' c', ' e', '-f', '+F']
    expect(await plan(file, chunk)).toEqual(becomes(['a', 'B', 'c', 'd', 'e', 'F', 'g'], 'split-chunk'))
    expect(await plan(['0', ...file.slice(0, 4), 'd', ...file.slice(4), 'e', 'f'], chunk)).toHaveProperty('failure')
    expect(await plan(file, chunk, { mode: 'strict' })).toMatchObject(missing())
  })
  test('may lack a line of context, but not where lines are inserted', async () => {
    expect(await plan(file, ['@@', ' a', ' c', '-d', '+D'])).toEqual(
      becomes(['a', 'b', 'c', 'D', 'e', 'f', 'g'], 'split-chunk'),
    )
    expect(await plan(file, ['@@', ' a', '+new', ' c'])).toMatchObject(ambiguous(2, 3))
    expect(await plan(file, ['@@', '-a', '-c', '+new'])).toHaveProperty('failure')
  })
  test('and chunks out of order are applied if each fits one place of the whole file', async () => {
    const chunks = ['@@', '-f', '+F', '@@', '-b', '+B']
    expect(await plan(file, chunks)).toEqual(becomes(['a', 'B', 'c', 'd', 'e', 'F', 'g'], 'out-of-order'))
    expect(await plan(['f', ...file], chunks)).toHaveProperty('failure')
    expect(await plan(file, chunks, { mode: 'strict' })).toMatchObject(missing('above-previous-chunk'))
  })
})
