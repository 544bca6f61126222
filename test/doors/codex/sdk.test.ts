import { describe, expect, test } from 'vitest'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { realCodex } from './door.ts'
import { sdkBehaviours } from './sdk-behaviours.ts'
import { whyNoSdk } from './sdk.ts'

describe.skipIf(needsBubblewrap()).each(Object.entries(sdkBehaviours))("OpenAI's SDK: %s", (_, behaviours) => {
  testUnlessOnCi(whyNoSdk()).each(behaviours)('$name', ({ run }) => run(realCodex !== undefined))
})

test("there is a behaviour for each of OpenAI's tests", () => {
  expect(Object.values(sdkBehaviours).flat()).toHaveLength(33)
})
