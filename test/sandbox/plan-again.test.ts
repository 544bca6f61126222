import { expect, test } from 'vitest'
import { planAgain } from '../../sandbox/bubblewrap/plan-again.ts'
import { SandboxError } from '../../sandbox/sandbox-error.ts'

const changed = (approved?: true): SandboxError =>
  new SandboxError('path-changed', { backend: 'bubblewrap', path: '/r/objects', ...(approved && { approved }) })

/** Plans with a function that throws the errors one after the other, and then succeeds. Returns how many plans were made, and what came of them. */
function plansWith(...errors: readonly Error[]): readonly [number, unknown] {
  let plans = 0
  const outcome = (): unknown => {
    try {
      return planAgain(() => {
        const error = errors[plans]
        plans += 1
        if (error !== undefined) throw error
        return 'planned'
      })
    } catch (error) {
      return error
    }
  }
  const result = outcome()
  return [plans, result]
}

test('mounts are planned again if an entry disappeared while they were being planned', () => {
  expect(plansWith(changed(), changed())).toEqual([3, 'planned'])
})

test('planning ends with the error if entries keep disappearing', () => {
  const last = changed()
  expect(plansWith(changed(), changed(), last, changed())).toEqual([3, last])
})

test.each([
  ['an approved entry that was replaced', changed(true)],
  ['another error', new Error('no memory')],
])('mounts are not planned again after %s', (_, error) => {
  expect(plansWith(error)).toEqual([1, error])
})
