import { expect, test } from 'vitest'
import { outcomeOf, type Outcome } from '../../../engine/batch/outcome.ts'
import { Money } from '../../../engine/batch/run/money.ts'
import { judgeTrial } from '../../../engine/batch/run/settle-trial.ts'

test.each<[number | undefined, boolean, Outcome]>([
  [0, true, 'done'],
  [1, true, 'failed'],
  [1, false, 'infrastructure'],
  [2, false, 'usage'],
  [3, true, 'denied'],
  [4, true, 'budget'],
  [5, false, 'sandbox'],
  [6, true, 'provider'],
  [130, true, 'interrupted'],
  [143, true, 'interrupted'],
  [77, true, 'lost'],
  [undefined, true, 'lost'],
])('exit code %s, with a last event: %s, is %s', (code, hasEnded, outcome) => {
  expect(outcomeOf(code, hasEnded)).toBe(outcome)
})

test.each<[readonly Outcome[], 'open' | 'settled']>([
  [[], 'open'],
  [['done'], 'settled'],
  [['failed'], 'settled'],
  [['denied'], 'settled'],
  [['budget'], 'settled'],
  [['usage'], 'settled'],
  [['provider'], 'open'],
  [['provider', 'sandbox'], 'open'],
  [['provider', 'provider', 'infrastructure'], 'settled'],
  [['lost'], 'open'],
  [['quota', 'quota', 'quota', 'quota'], 'open'],
  [['lost', 'lost'], 'settled'],
  [['interrupted', 'interrupted', 'interrupted', 'interrupted'], 'open'],
])('after %j a trial of three attempts is %s', (ended, state) => {
  expect(
    judgeTrial(
      ended.map((outcome) => ({ outcome })),
      3,
    ),
  ).toBe(state)
})

test('the possible total cost of runs never exceeds the limit, whatever they actually cost', () => {
  const money = new Money(10, 3, () => 4)
  expect([money.reserve(), money.reserve(), money.reserve()]).toEqual([{ limit: 3 }, { limit: 3 }, { limit: 3 }])
  expect(money.reserve()).toBe('wait')
  money.settle(3, 0.5)
  expect(money.reserve()).toEqual({ limit: 3 })
  for (const cost of [3, 3, 3]) money.settle(3, cost)
  expect(money.spent).toBe(9.5)
  expect(money.reserve()).toBe('used-up')
})

test('a killed run counts with the highest cost that it may have had', () => {
  const money = new Money(5, 3, () => 1)
  money.reserve()
  money.settle(3, undefined)
  expect(money.reserve()).toBe('used-up')
})

test('the cost of a run that a worker has from an earlier start is reserved, and other runs share the rest', () => {
  const money = new Money(10, undefined, () => 2)
  expect(money.keep(8)).toEqual({ limit: 8 })
  expect(money.reserve()).toBe('wait')
  money.settle(8, 1)
  expect(money.reserve()).toEqual({ limit: 5 })
  // A run without a limit may use everything that is left.
  const late = new Money(10, 3, () => 2)
  late.count(2)
  expect(late.keep(undefined)).toEqual({ limit: 8 })
  expect(late.reserve()).toBe('wait')
  expect(new Money(undefined, 3, () => 2).keep(7)).toEqual({ limit: 7 })
})

test('without a limit per run, each run has its share, and the last has what is left', () => {
  const money = new Money(8, undefined, () => 2)
  expect([money.reserve(), money.reserve(), money.reserve()]).toEqual([{ limit: 4 }, { limit: 4 }, 'wait'])
  money.settle(4, 3)
  money.settle(4, 2)
  expect(money.reserve()).toBe('used-up')
  const cheap = new Money(8, undefined, () => 2)
  for (let run = 0; run < 13; run++) cheap.count(0.5)
  expect(cheap.reserve()).toEqual({ limit: 1.5 })
})
