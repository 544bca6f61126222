import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellJoin } from '../../../engine/core/text/shell-join.ts'

test('plain words stay plain, others are quoted', () => {
  expect(shellJoin(['/bin/bash', '-c', "echo it's; ls"])).toBe(`/bin/bash -c 'echo it'\\''s; ls'`)
})

test('a real shell splits the line back into the same words', () => {
  const word = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))
  fc.assert(
    fc.property(
      fc.array(
        word.filter((text) => text.isWellFormed()),
        { maxLength: 5 },
      ),
      (words) => {
        const out = execFileSync('/bin/sh', ['-c', `printf '%s\\0' x ${shellJoin(words)}`], { encoding: 'utf8' })
        expect(out.split('\0').slice(1, -1)).toEqual(words)
      },
    ),
    { numRuns: 40 },
  )
})
