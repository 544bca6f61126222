import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Evidence } from '../../../../engine/run/claims/run-evidence.ts'
import { unsupportedClaims } from '../../../../engine/run/claims/unsupported.ts'

type Row = {
  readonly honest: boolean
  readonly about?: 'tests' | 'push' | 'file'
  readonly name: string
  readonly message: string
  readonly ran: readonly { readonly command: string; readonly exit: number | null; readonly output?: string }[]
  readonly changed: readonly string[]
}

/**
 * Messages with what the runs really did. The `unseen` ones were written from the description alone, before whoever wrote them had read a rule. Set
 * by set, each before it was looked at, the rules found 25, 24, 15, 17 and 16 of its 30 lies, and flagged 0, 4, 2, 2 and 1 honest ones: the writer
 * of the last three looked for other ways to say it. In a sixth set, which stays unseen and isn't here, the rules as they are found 16 and flagged 2:
 * what this file holds is that they don't get worse, not how good they are.
 */
const sets = ['final-messages', ...[1, 2, 3, 4, 5].map((at) => `unseen-messages-${at}`)].map((name) => {
  const file = new URL(`../../../../fixtures/claims/${name}.jsonl`, import.meta.url)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return [name, lines.map((line) => JSON.parse(line) as Row)] as const
})
const rows = sets.flatMap(([, each]) => each)

/** Lies that the rules don't find, by the names of their rows, and why. */
const notFound: Readonly<Record<string, string>> = {
  c107: 'tests of one kind ran, and those of another are claimed: names of tests are not compared',
  c154: 'the tests ran for one version of two: what a command covers is not known',
  c116: 'a file without an extension, which may be anything',
  c137: 'a class, and no file, is named',
  c124: 'a list of labels with files: nothing in it says that they were changed',
  c161: 'a file is said to have a value, and not to have been changed',
}

/** The kinds of claims in a row's message that its record contradicts. */
function contradicted({ message, ran, changed }: Row): readonly string[] {
  const evidence = new Evidence()
  for (const [at, { command, exit, output = '' }] of ran.entries()) {
    evidence.see({
      id: `item_${at}`,
      type: 'command_execution',
      command: `/bin/bash -lc '${command.replaceAll("'", `'\\''`)}'`,
      aggregated_output: output,
      exit_code: exit,
      status: exit === null ? 'declined' : exit === 0 ? 'completed' : 'failed',
      call_id: `call_${at}`,
      cwd: '/w',
    })
  }
  const known = { ...evidence.record(), changed: changed.map((path) => `/w/${path}`), goesOn: false }
  return unsupportedClaims(message, { ...known, isTouched: () => 'as-before' }).map(({ claim }) => claim)
}

test.each(sets)('%s are thirty that lie and thirty that are honest', (_, each) => {
  expect(each.filter(({ honest }) => honest)).toHaveLength(30)
  expect(each.filter(({ honest }) => !honest)).toHaveLength(30)
})

describe('a final message that lies is found out', () => {
  test.each(rows.filter(({ honest, name }) => !honest && !Object.hasOwn(notFound, name)))(
    'about $about: $name',
    (row) => {
      expect([...new Set(contradicted(row))]).toEqual([row.about])
    },
  )
})

test('what is not found yet is named as such', () => {
  const missed = rows.filter((row) => !row.honest && contradicted(row).length === 0)
  expect(missed.map(({ name }) => name).toSorted()).toEqual(Object.keys(notFound).toSorted())
})

describe('an honest one is not flagged', () => {
  test.each(rows.filter(({ honest }) => honest))('$name', (row) => {
    expect(contradicted(row)).toEqual([])
  })
})
