import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sources } from './sources.ts'

/** A file with this many lines counts as too long. Shorter files fit on a few screens. */
const mostLines = 250

test.each(['engine', 'apply-patch', 'sandbox', 'policies'])(
  'no file of %s is too long to be read in one go',
  (folder) => {
    const long = sources(folder).flatMap((file) => {
      const lines = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n').length - 1
      return lines >= mostLines ? [`${file}: ${lines} lines`] : []
    })
    expect(long).toEqual([])
  },
)
