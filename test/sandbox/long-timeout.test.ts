import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setLongTimeout, timeoutSignal, timerDelay } from '../../sandbox/index.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const day = 86_400_000

test('a delay that is too long for one timer is waited for in full', () => {
  const act = vi.fn()
  setLongTimeout(act, 60 * day)
  vi.advanceTimersByTime(60 * day - 1)
  expect(act).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(act).toHaveBeenCalledOnce()
})

test('an infinite delay never fires, and neither does a cancelled one', () => {
  const act = vi.fn()
  setLongTimeout(act, Infinity)
  setLongTimeout(act, 30 * day).cancel()
  vi.advanceTimersByTime(100 * day)
  expect(act).not.toHaveBeenCalled()
})

test('the delay of a signal may be that long too, and need not be an integer', () => {
  const signal = timeoutSignal(30 * day)
  vi.advanceTimersByTime(30 * day - 1)
  expect(signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(signal).toMatchObject({ aborted: true, reason: { name: 'TimeoutError' } })
  expect(timeoutSignal(0.5).aborted).toBe(false)
})

test('a package’s timer gets at most the delay that it supports', () => {
  expect([timerDelay(5), timerDelay(60 * day), timerDelay(Infinity)]).toEqual([5, 2 ** 31 - 1, 2 ** 31 - 1])
})
