import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  commit,
  diffToPatch,
  formatPatch,
  parsePatch,
  PatchError,
  planPatch,
  renderFailure,
  reversePatch,
  type Patch,
} from '../../apply-patch/index.ts'
import { fingerprint, readTree } from './case-tools.ts'
import { tries } from '../support/tries.ts'

let base = ''
let number = 0
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'apply-patch-laws-'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function makeTree(files: Readonly<Record<string, string>>): string {
  const root = join(base, String(number++))
  mkdirSync(root)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return root
}

const stateDirectory = (): string => join(base, 'state')
const names = ['one', 'two', 'three'] as const
const words = fc.constantFrom('a', 'b', 'c', 'dd', '  e', '', 'ü', '\tg', '*** x', '+y', '-z', '@@ w')
const ending = fc.constantFrom('\n', '\r\n')
const text = fc
  .tuple(fc.array(words, { maxLength: 30 }), ending)
  .map(([lines, end]) => lines.map((one) => one + end).join(''))
const tree = fc.record({ one: text, two: text, three: text }, { requiredKeys: [] })

/** A patch without the positions that parsing adds. */
function meaning({ operations, ...rest }: Patch): unknown {
  return {
    ...rest,
    operations: operations.map((one) => ({
      ...one,
      line: 0,
      ...('body' in one ? { body: Buffer.from(one.body).toString() } : {}),
      ...('chunks' in one
        ? {
            chunks: one.chunks.map((chunk) => ({
              ...chunk,
              line: 0,
              bodyLine: 0,
              anchors: chunk.anchors.map((anchor) => anchor.text),
              body: Buffer.from(chunk.body).toString(),
            })),
          }
        : {}),
    })),
  }
}

const normalized = (one: string | undefined): string | undefined => one?.replaceAll('\r\n', '\n')

describe('laws', () => {
  test('a diff of two trees, applied to the first, gives the second; reverted, the first', async () => {
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const pairs = names.map((path) => ({
          path,
          before: before[path] === undefined ? undefined : Buffer.from(before[path]),
          after: after[path] === undefined ? undefined : Buffer.from(after[path]),
        }))
        const patch = await diffToPatch(pairs)
        if (patch.operations.length === 0) return
        const root = makeTree(before)
        const start = fingerprint(root)
        const read = parsePatch(formatPatch(patch)).patch
        expect(meaning(read)).toEqual(meaning(patch))
        const changeSet = await planPatch(read, { root })
        await commit(changeSet, { stateDirectory: stateDirectory() })
        for (const change of changeSet.changes) {
          if (change.type === 'write') expect(readFileSync(change.place.key)).toEqual(Buffer.concat(change.content))
        }
        const found = readTree(root)
        for (const path of names) expect(normalized(found[path] as string | undefined)).toEqual(normalized(after[path]))
        if (patch.operations.some(({ type }) => type === 'delete')) {
          expect(() => reversePatch(read)).toThrow(PatchError)
          return
        }
        // The reverse patch either gives the original bytes or is refused without a change.
        const done = fingerprint(root)
        try {
          await commit(await planPatch(reversePatch(read), { root, ambiguous: 'refuse' }), {
            stateDirectory: stateDirectory(),
          })
        } catch (error) {
          expect(error).toBeInstanceOf(PatchError)
          expect(fingerprint(root)).toEqual(done)
          return
        }
        const endings = pairs.map((pair) => [pair.before, pair.after].map((one) => one?.includes('\r\n')))
        const isPlain = endings.every(([a, b]) => a === undefined || b === undefined || a === b)
        if (isPlain && pairs.every(({ before: one, after: other }) => one?.length !== 0 && other?.length !== 0)) {
          expect(fingerprint(root)).toEqual(start)
        }
      }),
      { numRuns: tries(400) },
    )
  })

  test('ten thousand mutated patches never crash, and a refused one changes nothing', async () => {
    const seeds = [
      '*** Begin Patch\n*** Update File: one\n@@ a\n-b\n+c\n*** End of File\n*** Add File: n\n+x\n*** Delete File: two\n*** End Patch\n',
      "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: three\n*** Move to: four\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n*** End Patch\nEOF\n",
      '["apply_patch", "*** Begin Patch\\n*** Add File: k\\n+v\\n*** End Patch"]',
      '```\n*** Begin Patch ***\n*** Delete File: one\n*** Update File: two\n\n@@\n+q\n\n*** End Patch ***\n```\n',
    ]
    const pieces = fc.constantFrom(
      '*** ',
      '\n',
      '\r',
      '@@',
      '+',
      '-',
      ' ',
      '\0',
      'é',
      '../',
      '/',
      '.git/',
      '*** End Patch\n',
      '*** Move to: ',
      '\uFEFF',
      '"',
      '`',
    )
    const mutation = fc.record({
      seed: fc.constantFrom(...seeds),
      edits: fc.array(fc.tuple(fc.nat(1000), fc.nat(12), fc.oneof(pieces, fc.string({ maxLength: 5 }))), {
        maxLength: 5,
      }),
    })
    let root = makeTree({ one: 'a\nb\nc\n', two: 'x\r\ny\r\n', three: 'a\nb' })
    let before = fingerprint(root)
    await fc.assert(
      fc.asyncProperty(mutation, fc.constantFrom('lenient', 'strict'), async ({ seed, edits }, mode) => {
        let input = seed
        for (const [at, drop, put] of edits) {
          const place = at % (input.length + 1)
          input = input.slice(0, place) + put + input.slice(place + drop)
        }
        try {
          const changeSet = await planPatch(parsePatch(input, { mode }).patch, { root, mode })
          for (const { place } of changeSet.changes) expect(place.key.startsWith(`${root}/`)).toBe(true)
          await commit(changeSet, { stateDirectory: stateDirectory() })
          rmSync(root, { recursive: true })
          root = makeTree({ one: 'a\nb\nc\n', two: 'x\r\ny\r\n', three: 'a\nb' })
          before = fingerprint(root)
        } catch (error) {
          expect(error).toHaveProperty('code')
          expect(renderFailure(error)).not.toMatch(/Unexpected error|undefined|\[object/)
          expect(fingerprint(root)).toEqual(before)
        }
      }),
      { numRuns: tries(10_000) },
    )
  })
})
