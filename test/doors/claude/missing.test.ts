import { describe, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { missingBehaviours } from './missing-behaviours.ts'

describe.skipIf(needsBubblewrap())('what is missing is refused', () => {
  for (const { name, run } of missingBehaviours) test(name, run)
})
