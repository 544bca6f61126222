import { expect, test } from 'vitest'
import { expectTable } from '../expect-table.ts'
import { behaviours, others } from './behaviours.ts'

test('the README of the door has the table that the behaviours make (vitest -u writes it)', async () => {
  expect.assertions(1)
  await expectTable('acp', { 'seen of other agents': behaviours, 'what else the protocol has': others })
})
