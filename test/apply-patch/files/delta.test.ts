import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findDelta, applyDelta, runLength, runsOf } from '../../../apply-patch/files/delta.ts'
import { chunksOf } from '../../../apply-patch/files/pieces.ts'
import { tries } from '../../support/tries.ts'

test('replaced content can be rebuilt from the new content and the bytes that only the old one had', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.tuple(fc.nat(200), fc.nat(60), fc.uint8Array({ maxLength: 5 })), { maxLength: 8 }),
      fc.boolean(),
      (bytes, cuts, inOrder) => {
        const old = Buffer.from(bytes)
        const starts = inOrder ? cuts.toSorted(([one], [other]) => one - other) : cuts
        // The content consists of pieces of the old bytes, in any order and perhaps overlapping, with new bytes between them.
        const content = starts.flatMap(([start, length, foreign]) => [old.subarray(start, start + length), foreign])
        const delta = findDelta(old, content)
        const runs = Buffer.concat([...runsOf(old, delta)])
        expect(runs.length).toBe(runLength(delta))
        const now = Buffer.concat(content)
        const from = (all: Buffer) => (start: number, length: number) => all.subarray(start, start + length)
        const pieces = applyDelta(delta, from(runs), from(now))
        expect(Buffer.concat([...chunksOf(pieces)])).toEqual(old)
      },
    ),
    { numRuns: tries(2000) },
  )
})

test('a small edit stores little', () => {
  const old = Buffer.alloc(100_000, 'line\n')
  const delta = findDelta(old, [old.subarray(0, 50_000), Buffer.from('new\n'), old.subarray(50_005)])
  expect(delta).toEqual([0, 0, 50_000, 5, 50_004, 49_995])
})
