import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/** Matches conversions that replace bytes that aren't UTF-8, or that represent each byte as one character. `decodeText` and `encodeText` do neither. */
const conversion = /\.toString\('(?:latin1|binary|utf-?8)'|Buffer\.from\([^\n]*'(?:latin1|binary)'\)/g

/**
 * The source files that parse git's binary formats. They search the bytes for lengths and signatures, and represent each byte of a path in git's index as one
 * character (latin1).
 */
const binary = /^sandbox\/git\/(?:index-file|shown-index|loose-pack)\.ts$/

test('git’s names and files are converted between bytes and text in only one way, so that no name can change', () => {
  const found = sources('sandbox/git')
    .filter((file) => !binary.test(file))
    .flatMap((file) => [...code(file).matchAll(conversion)].map(([each]) => `${file}: ${each}`))
  expect(found).toEqual([])
})

test('names that Node returns with one character for each byte are converted where they are read', () => {
  const reading = sources('sandbox/git').filter((file) => !binary.test(file) && code(file).includes("'latin1'"))
  expect(reading.filter((file) => !code(file).includes('decodeName('))).toEqual([])
})
