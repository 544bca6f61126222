import { createRequire } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fileOfPackage, whyNotInstalled } from '../support/doors.ts'
import { testUnlessOnCi } from '../support/needs.ts'
import { boundedPatterns, madePatterns } from './bounded-patterns.ts'
import { regularExpressions } from './regular-expressions.ts'

type Recheck = {
  readonly checkSync: (
    source: string,
    flags: string,
    options: { readonly checker: 'automaton'; readonly timeout: number },
  ) => { readonly status: string; readonly complexity?: { readonly summary: string } }
}

// recheck's build for browsers consists only of JavaScript. Its other build looks for Java and native programs.
const open = (): Recheck => createRequire(import.meta.url)(fileOfPackage('recheck/lib/browser.js')) as Recheck

/**
 * The file that lists the expressions whose proof of linear time takes more than a few milliseconds, so that these proofs needn't be repeated in each
 * run of the tests. `PROVE=1 vitest run --project architecture` generates the list again.
 */
const file = new URL('linear-patterns.json', import.meta.url)
const proving = process.env['PROVE'] !== undefined
const proved = new Set(JSON.parse(readFileSync(file, 'utf8')) as readonly string[])
const [patience, longProof] = [proving ? 600_000 : 60_000, 15]

const { literals, made } = regularExpressions()

testUnlessOnCi(whyNotInstalled('recheck'))(
  'every regular expression is proved to take time linear in its text, or runs over what is bounded',
  { timeout: 3_600_000 },
  () => {
    const { checkSync } = open()
    const slow: string[] = []
    const unproved = [...literals]
      .filter(([text]) => !Object.hasOwn(boundedPatterns, text) && !proved.has(text))
      .flatMap(([text, { pattern, flags, places }]) => {
        const before = performance.now()
        const { status, complexity } = checkSync(pattern, flags, { checker: 'automaton', timeout: patience })
        if (performance.now() - before > longProof) slow.push(text)
        return status === 'safe' ? [] : [`${places.join(', ')}: ${text} is ${complexity?.summary ?? 'not proved'}`]
      })
    if (proving) {
      const kept = [...proved].filter((text) => literals.has(text))
      const lines = [...kept, ...slow.filter((text) => !unproved.some((line) => line.includes(text)))].toSorted()
      writeFileSync(file, `${JSON.stringify(lines, null, 2)}\n`)
    }
    expect(unproved).toEqual([])
  },
)

test('no list of regular expressions names one that no longer exists', () => {
  const listed = [...Object.keys(boundedPatterns), ...(proving ? [] : proved)]
  expect(listed.filter((text) => !literals.has(text))).toEqual([])
})

test('regular expressions are built from other texts in few places, each with a reason', () => {
  expect(made.toSorted()).toEqual(Object.keys(madePatterns).toSorted())
})
