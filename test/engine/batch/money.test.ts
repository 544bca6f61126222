import { expect, test } from 'vitest'
import { Money } from '../../../engine/batch/run/money.ts'

const limits = [1, 0.1, 10, 3.7, 0.000_007]
const workers = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13]
const shares = [0.1, 0.3, 1 / 3]

test.for(limits.flatMap((limit) => workers.map((count) => [limit, count] as const)))(
  'a batch with $%s and %s workers comes to an end, and never spends more than that',
  ([limit, count]) => {
    for (const share of shares) {
      const money = new Money(limit, undefined, () => count)
      const running: (number | undefined)[] = []
      for (;;) {
        const reserved = money.reserve()
        if (reserved === 'used-up') break
        if (reserved === 'wait') {
          expect(running.length, 'a run waits only for money that another may release').toBeGreaterThan(0)
          const first = running.shift()
          money.settle(first, Math.ceil((first ?? 0) * share * 1e6) / 1e6)
        } else running.push(reserved.limit)
      }
      expect(running).toEqual([])
      expect(money.spent).toBeLessThanOrEqual(limit)
    }
  },
)

test('the money of runs that used a third, a tenth and all of their share is released exactly', () => {
  const money = new Money(1, undefined, () => 3)
  const first = [money.reserve(), money.reserve(), money.reserve()]
  expect(first).toEqual([{ limit: 0.333_333 }, { limit: 0.333_333 }, { limit: 0.333_333 }])
  for (const each of first) money.settle(each === 'wait' || each === 'used-up' ? undefined : each.limit, 0.3)
  expect(money.spent).toBe(0.9)
  expect(money.reserve()).toBe('used-up')
})

test('a run whose reservation is zero still counts as running', () => {
  const money = new Money(1, undefined, () => 2)
  money.keep(1)
  expect(money.keep(undefined)).toEqual({ limit: 0 })
  money.settle(1, 0.1)
  expect(money.reserve()).toEqual({ limit: 0.5 })
  expect(money.reserve()).toBe('wait')
})
