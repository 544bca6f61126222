import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/** Matches conversions between bytes and text that don't keep all bytes, or that give the text a form which a file or a path can't contain. */
const conversion = /\.toString\('(?:latin1|binary|utf-?8)'|Buffer\.from\([^\n]*'(?:latin1|binary)'\)/g

/** The source files that parse git's binary formats. They look for lengths and signatures in the bytes, and keep one character for each byte in the paths of an index. */
const binary = /^sandbox\/git\/(?:index-file|shown-index|loose-pack)\.ts$/

test('all names and files of git become text and bytes in one way only, so that no name can change on the way', () => {
  const found = sources('sandbox/git')
    .filter((file) => !binary.test(file))
    .flatMap((file) => [...code(file).matchAll(conversion)].map(([each]) => `${file}: ${each}`))
  expect(found).toEqual([])
})

test('names that Node returns with one character for each byte are converted where they are read', () => {
  const reading = sources('sandbox/git').filter((file) => !binary.test(file) && code(file).includes("'latin1'"))
  expect(reading.filter((file) => !code(file).includes('decodeName('))).toEqual([])
})
