import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Evidence } from '../../../../engine/run/claims/evidence.ts'
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
 * Messages with what the runs really did. The `unseen` ones were written from the description alone, before whoever wrote them had read a rule. The
 * rules found 25 and 23 of their 30 lies and flagged 0 and 4 honest ones then; mended by what the first set showed, 24 and 4 in the second, which had
 * not been looked at.
 */
const sets = ['final-messages', 'unseen-messages-1', 'unseen-messages-2'].map((name) => {
  const file = new URL(`../../../../fixtures/claims/${name}.jsonl`, import.meta.url)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return [name, lines.map((line) => JSON.parse(line) as Row)] as const
})
const rows = sets.flatMap(([, each]) => each)

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
  test.each(rows.filter(({ honest }) => !honest))('about $about: $name', (row) => {
    expect([...new Set(contradicted(row))]).toEqual([row.about])
  })
})

describe('an honest one is not flagged', () => {
  test.each(rows.filter(({ honest }) => honest))('$name', (row) => {
    expect(contradicted(row)).toEqual([])
  })
})
