import { expect, test } from 'vitest'
import { expectTable } from '../expect-table.ts'
import type { Behaviour } from './door.ts'
import { execBehaviours } from './exec-behaviours.ts'
import { sdkBehaviours } from './sdk-behaviours.ts'

/** The groups of a suite, each under its own title. */
function titled(suite: string, groups: Readonly<Record<string, readonly Behaviour[]>>): typeof groups {
  return Object.fromEntries(Object.entries(groups).map(([group, behaviours]) => [`${suite}, ${group}`, behaviours]))
}

test('the README of the door has the table that the behaviours make (vitest -u writes it)', async () => {
  expect.assertions(1)
  await expectTable('codex', { ...titled("OpenAI's SDK", sdkBehaviours), ...titled('`codex exec`', execBehaviours) })
})
