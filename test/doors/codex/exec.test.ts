import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { realCodex } from './door.ts'
import { execBehaviours } from './exec-behaviours.ts'

describe.skipIf(needsBubblewrap()).each(Object.entries(execBehaviours))('codex exec: %s', (_, behaviours) => {
  test.each(behaviours)('$name', ({ run }) => run(realCodex !== undefined))
})

test('there is a behaviour for each of the tests of codex exec', () => {
  expect(Object.values(execBehaviours).flat()).toHaveLength(29)
})
