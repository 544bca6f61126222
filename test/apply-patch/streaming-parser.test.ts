import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStreamingParser, parsePatch } from '../../apply-patch/index.ts'

const text =
  '*** Begin Patch\n*** Add File: n.txt\n+one\n+two\n*** Update File: f.txt\n*** Move to: g.txt\n@@ class A\n@@ def m\n a\n-b\n+B\n\n@@\n+end\n*** End of File\n*** Delete File: old\n*** End Patch'

test('however a patch is split into pieces, the final result is the same', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 20 }), (cuts) => {
      const parser = createStreamingParser()
      let from = 0
      for (const cut of [...cuts.toSorted((a, b) => a - b), text.length]) {
        parser.push(text.slice(from, cut))
        from = cut
      }
      expect(parser.isComplete()).toBe(true)
      expect(
        parser.operations().map(({ type, path, moveTo, added, removed, isComplete }) => ({
          type,
          path,
          moveTo,
          added,
          removed,
          isComplete,
        })),
      ).toEqual([
        { type: 'add', path: 'n.txt', moveTo: undefined, added: 2, removed: 0, isComplete: true },
        { type: 'update', path: 'f.txt', moveTo: 'g.txt', added: 2, removed: 1, isComplete: true },
        { type: 'delete', path: 'old', moveTo: undefined, added: 0, removed: 0, isComplete: true },
      ])
      expect(parser.operations()[1]?.chunks.map(({ anchors }) => anchors)).toEqual([['class A', 'def m'], []])
      expect(parsePatch(text).patch.operations.map(({ path }) => path)).toEqual(['n.txt', 'f.txt', 'old'])
    }),
  )
})

test('an operation is reported as soon as its header is complete, and then grows', () => {
  const parser = createStreamingParser()
  expect(parser.push('*** Begin Patch\n*** Update File: src/a.ts')).toEqual([])
  expect(parser.push('\n@@\n-o')).toMatchObject([{ path: 'src/a.ts', isComplete: false, removed: 0 }])
  expect(parser.push('ld\n+new\n')).toMatchObject([{ removed: 1, added: 1, chunks: [{ lines: ['-old', '+new'] }] }])
})
