import { expect, test } from 'vitest'
import { expectTable } from '../expect-table.ts'
import { missingBehaviours } from './missing-behaviours.ts'
import { printBehaviours } from './print-behaviours.ts'
import { sdkBehaviours } from './sdk-behaviours.ts'

test('the README of the door has the table that the behaviours make (vitest -u writes it)', async () => {
  expect.assertions(1)
  await expectTable('claude', {
    'the Agent SDK': sdkBehaviours,
    '`claude -p`': printBehaviours,
    'asked for in vain': missingBehaviours,
  })
})
