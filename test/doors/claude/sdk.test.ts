import { describe, expect, test } from 'vitest'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { sdkBehaviours } from './sdk-behaviours.ts'
import { whyNoSdk } from './sdk.ts'

describe.skipIf(needsBubblewrap())("Anthropic's Agent SDK", () => {
  testUnlessOnCi(whyNoSdk()).each(sdkBehaviours)('$name', ({ run }) => run())
})

test('there is a behaviour for each of the 18 that were seen of Claude Code', () => {
  expect(sdkBehaviours).toHaveLength(18)
})
