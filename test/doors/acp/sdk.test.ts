import { describe, expect, test } from 'vitest'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { behaviours, others } from './behaviours.ts'
import { whyNoClients } from './schema.ts'

describe.skipIf(needsBubblewrap())("the protocol's SDK 2.x", () => {
  testUnlessOnCi(whyNoClients()).each([...behaviours, ...others])('$name', ({ run }) => run())
})

test('there is a behaviour for each of the 13 that were seen of other agents', () => {
  expect(behaviours).toHaveLength(13)
})
