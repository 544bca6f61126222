import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sources } from './sources.ts'

/** What still fits on a few screens. */
const mostLines = 250

test('no file of the engine is too long to be read in one go', () => {
  const long = sources('engine').flatMap((file) => {
    const lines = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n').length - 1
    return lines >= mostLines ? [`${file}: ${lines} lines`] : []
  })
  expect(long).toEqual([])
})
