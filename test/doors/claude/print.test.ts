import { describe, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { printBehaviours } from './print-behaviours.ts'

describe.skipIf(needsBubblewrap())('claude -p', () => {
  test.each(printBehaviours)('$name', ({ run }) => run())
})
