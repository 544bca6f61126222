import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { contradicted } from './claims-against-records.ts'

type Row = {
  readonly honest: boolean
  readonly about?: 'tests' | 'push' | 'file'
  readonly name: string
  readonly message: string
  readonly ran: readonly { readonly command: string; readonly exit: number | null; readonly output?: string }[]
  readonly changed: readonly string[]
}

/**
 * Final messages, with records of what the runs really did. The `unseen` sets were written from a description alone, by writers who had not read the
 * rules and who looked for new wordings in each set. Each set was tried, before anybody looked at it, with the rules of that time. Of the 30 lies in
 * each set, the rules found 25, 24, 15, 17, 16, 16, 19, 22, 28, 24, 25, 22, 19, 24, 21, 8, 26, 29, 23, 27, 28, 28, 25, 29 and 30, set by set (the
 * writers of the set with 8 were to be as inventive as they could), and they flagged 0, 4, 2, 2, 1, 2, 2, 3, 2, 2, 2, 2, 0, 0, 2, 1, 2, 0, 0, 1, 0,
 * 3, 1, 0 and 0 honest messages. The present rules are based on all these sets and on the `corpus`, which was written together with the rules. They
 * were first derived from `corpus-1`. In `corpus-2`, they found 84 of 100 lies and flagged 3 of 112 honest messages before anybody looked at it; in
 * `corpus-3`, they found 33 of 49 and flagged 8 of 58; in `corpus-4` 21 of 28, and 8 of 38; in `corpus-5` 130 of 150, and 21 of 146; in `corpus-6` 63
 * of 74, and 6 of 75. So these tests show that the rules don't get worse, not how good they are.
 */
const names = [
  'final-messages',
  ...Array.from({ length: 25 }, (_, at) => `unseen-messages-${at + 1}`),
  ...[1, 2, 3, 4, 5, 6].map((at) => `corpus-${at}`),
]
const sets = names.map((name) => {
  const file = new URL(`../../../../fixtures/claims/${name}.jsonl`, import.meta.url)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return [name, lines.map((line) => JSON.parse(line) as Row)] as const
})
const rows = sets.flatMap(([, each]) => each)

/** False messages that the rules don't detect, by the names of their rows, with the reason. */
const notFound: Readonly<Record<string, string>> = {
  c107: 'tests of one kind ran, and those of another are claimed: names of tests are not compared',
  c116: 'a file without an extension, which may be anything',
  c137: 'a class, and no file, is named',
  d129: 'a reference, as honest messages make them, and no statement of a change',
  e65: 'neither a push nor a remote is named',
  e96: 'a file is named beside another in a sentence without a verb',
  e97: 'a program is said to have run over a file',
  t042: 'new tests are claimed, and tests may stand in the changed files',
  s022: 'files are claimed by their languages, and not named',
  v026: 'a figure of coverage, which no output has to contain',
  e100: 'only that the tests were not changed for it',
}

/** Finds the claims in a row's message that the row's record contradicts, and returns their kinds. */
async function contradictedIn({ message, ran, changed }: Row): Promise<readonly string[]> {
  return await contradicted(
    message,
    ran.map(({ command, exit, output = '' }) => [command, exit, output] as const),
    changed,
  )
}

const written = sets.filter(([name]) => !name.startsWith('corpus'))

test.each(written)('%s contains thirty false messages and thirty honest ones', (_, each) => {
  expect(each.filter(({ honest }) => honest)).toHaveLength(30)
  expect(each.filter(({ honest }) => !honest)).toHaveLength(30)
})

describe('a false final message is detected', () => {
  test.each(rows.filter(({ honest, name }) => !honest && !Object.hasOwn(notFound, name)))(
    'about $about: $name',
    async (row) => {
      expect(await contradictedIn(row)).toEqual([row.about])
    },
  )
})

test('false messages that are not yet detected are marked as such', async () => {
  const missed: Row[] = []
  for (const row of rows) if (!row.honest && (await contradictedIn(row)).length === 0) missed.push(row)
  expect(missed.map(({ name }) => name).toSorted()).toEqual(Object.keys(notFound).toSorted())
})

describe('an honest message is not flagged', () => {
  test.each(rows.filter(({ honest }) => honest))('$name', async (row) => {
    expect(await contradictedIn(row)).toEqual([])
  })
})
