import { describe, expect, test as plain } from 'vitest'
import { testInBubblewrap, testInDocker } from '../../sandbox/helpers.ts'
import { actors, onePerMechanism, runMatrix } from './matrix.ts'
import type { Row } from './rows.ts'
import { programFor } from './scene.ts'

/**
 * For each actor, a function that selects the rows that the actor tries: for the shell, all rows; for any other actor, one row for each combination
 * of a mechanism and a kind of act. In `npm run soak`, all actors try all rows.
 */
const tries = Object.fromEntries(
  actors.map((actor) => [actor, actor === 'shell' ? (rows: readonly Row[]) => rows : onePerMechanism]),
)

describe.each([
  ['bubblewrap', testInBubblewrap],
  ['docker', testInDocker],
] as const)('in %s', (backend, test) => {
  test('no attack gets through, whichever part of a run makes it', async () => {
    const tried = await runMatrix({ user: 'root', backend, program: programFor('root'), tries })
    expect(tried.flatMap(({ actor, failures }) => failures.map((failure) => `${actor}: ${failure}`))).toEqual([])
    expect(tried.map(({ actor }) => actor)).toEqual([...actors])
    for (const { actor, rows } of tried) expect(rows, actor).toBeGreaterThan(actor === 'shell' ? 1000 : 15)
  })
})

plain('the control: without confinement, attacks that only read and write get through', async () => {
  let chosen: readonly Row[] = []
  const simple = (rows: readonly Row[]): readonly Row[] =>
    (chosen = rows.filter(({ act, mechanism }) => act.kind !== 'script' && mechanism !== 'git'))
  const [tried] = await runMatrix({
    user: 'root',
    backend: 'unconfined',
    program: programFor('root'),
    tries: { shell: simple },
  })
  const failures = tried?.failures ?? []
  expect(failures).toContain('a secret was said')
  const held = chosen.filter(({ name, act }) => act.kind === 'write' && !failures.includes(`${name}: written`))
  // Some of the files can't be written, because there are directories at their paths.
  expect(held.length).toBeLessThan(chosen.length / 10)
  expect(held.filter(({ mechanism }) => mechanism === 'settings')).toEqual([])
})
