import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Scheduler, type Turn } from '../../../engine/run/scheduler.ts'
import { tries } from '../../support/tries.ts'

type Result = {
  readonly by: number
  readonly how: 'ok' | 'broken' | 'skipped: sibling' | 'skipped: stopped' | 'skipped: failed'
}

const open = (limit = 10, signal = new AbortController().signal): Scheduler<Result> =>
  new Scheduler({
    limit,
    signal,
    isBroken: ({ how }) => how === 'broken',
    skipped: (reason) => ({ by: -1, how: `skipped: ${reason}` }),
  })

const ended = async (scheduler: Scheduler<Result>): Promise<readonly Result[]> => {
  scheduler.settle()
  const results = await Promise.all(scheduler.results)
  await scheduler.close()
  return results
}

/** A task that ends on request, or when it is aborted. */
function held(by: number): { run(turn: Turn): Promise<Result>; end(how?: Result['how']): void; begun: boolean } {
  const { promise, resolve } = Promise.withResolvers<Result>()
  const task = {
    begun: false,
    run: ({ signal }: Turn) => {
      task.begun = true
      signal.addEventListener('abort', () => resolve({ by, how: 'broken' }), { once: true })
      return promise
    },
    end: (how: Result['how'] = 'ok') => resolve({ by, how }),
  }
  return task
}

describe('while a response is being written', () => {
  test('a safe call begins at once, and an unsafe one only when the response is complete', async () => {
    const scheduler = open()
    const [safe, unsafe, behind] = [held(0), held(1), held(2)]
    scheduler.add({ safe: true, run: safe.run })
    scheduler.add({ safe: false, run: unsafe.run })
    scheduler.add({ safe: true, run: behind.run })
    safe.end()
    await scheduler.results[0]
    expect([safe.begun, unsafe.begun, behind.begun]).toEqual([true, false, false])
    unsafe.end()
    behind.end()
    expect((await ended(scheduler)).map(({ by }) => by)).toEqual([0, 1, 2])
  })

  test('closing ends running calls and answers waiting ones', async () => {
    const scheduler = open()
    scheduler.add({ safe: true, run: held(0).run })
    scheduler.add({ safe: false, run: held(1).run })
    const { results } = scheduler
    await scheduler.close()
    expect(await Promise.all(results)).toEqual([
      { by: 0, how: 'broken' },
      { by: -1, how: 'skipped: stopped' },
    ])
  })
})

test('closing answers a call that waits for the end of the response', async () => {
  const scheduler = open()
  scheduler.add({ safe: false, run: held(0).run })
  const { results } = scheduler
  await scheduler.close()
  expect(await Promise.all(results)).toEqual([{ by: -1, how: 'skipped: stopped' }])
})

describe('a call that could not be carried out', () => {
  test('ends the calls of its batch, but not later ones', async () => {
    const scheduler = open(2)
    const [broken, beside, waiting] = [held(0), held(1), held(2)]
    for (const { run } of [broken, beside, waiting]) scheduler.add({ safe: true, run })
    scheduler.add({ safe: false, run: () => Promise.resolve({ by: 3, how: 'ok' }) })
    broken.end('broken')
    expect(await ended(scheduler)).toEqual([
      { by: 0, how: 'broken' },
      { by: 1, how: 'broken' },
      { by: -1, how: 'skipped: sibling' },
      { by: 3, how: 'ok' },
    ])
    expect(waiting.begun).toBe(false)
  })

  test('ends nothing if it was cancelled itself', async () => {
    const run = new AbortController()
    const scheduler = open(10, run.signal)
    const reasons: unknown[] = []
    for (const by of [0, 1]) {
      scheduler.add({
        safe: true,
        run: async ({ signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await sleep(by)
          reasons.push(signal.reason)
          return { by, how: 'broken' }
        },
      })
    }
    run.abort('interrupted')
    await ended(scheduler)
    expect(reasons).toEqual(['interrupted', 'interrupted'])
  })
})

test('a call that turns out to be unsafe waits until it is alone, and none joins it', async () => {
  const scheduler = open()
  const log: string[] = []
  const [first, last] = [held(0), held(2)]
  scheduler.add({ safe: true, run: first.run })
  scheduler.add({
    safe: true,
    run: async ({ alone }) => {
      await alone()
      log.push(`alone, first ${first.begun ? 'done' : 'not begun'}, last ${last.begun ? 'begun' : 'waiting'}`)
      return { by: 1, how: 'ok' }
    },
  })
  scheduler.add({ safe: false, run: last.run })
  first.end()
  last.end()
  expect((await ended(scheduler)).map(({ by }) => by)).toEqual([0, 1, 2])
  expect(log).toEqual(['alone, first done, last waiting'])
})

test('the result of a task that rejects is not lost', async () => {
  const scheduler = open()
  scheduler.add({ safe: true, run: () => Promise.reject(new Error('disk full')) })
  scheduler.settle()
  await expect(Promise.all(scheduler.results)).rejects.toThrow('disk full')
  await scheduler.close()
})

test('for any calls: order, exclusivity and limit hold, no result is lost and no listener is left', async () => {
  const call = fc.record({
    safe: fc.boolean(),
    turnsOutUnsafe: fc.boolean(),
    steps: fc.integer({ min: 0, max: 3 }),
    how: fc.constantFrom<'ok' | 'broken'>('ok', 'ok', 'ok', 'broken'),
    late: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.integer({ min: 0, max: 6 })),
      async (calls, limit, abortAfter) => {
        const run = new AbortController()
        const scheduler = open(limit, run.signal)
        const running = new Set<number>()
        const exclusive = new Set<number>()
        const begun: number[] = []
        const wrong: string[] = []
        let settled = false
        const enter = (by: number, alone: boolean): void => {
          begun.push(by)
          running.add(by)
          if (alone) exclusive.add(by)
          if (running.size > limit) wrong.push(`${running.size} at a time`)
          if (exclusive.size > 0 && running.size > 1)
            wrong.push(`${[...running].join()} beside ${[...exclusive].join()}`)
          if (alone && !settled && !run.signal.aborted) wrong.push(`${by} before the response was complete`)
        }
        const leave = (by: number): void => void (running.delete(by), exclusive.delete(by))
        for (const [by, { safe, turnsOutUnsafe, steps, how, late }] of calls.entries()) {
          if (late) await Promise.resolve()
          scheduler.add({
            safe,
            run: async ({ alone, signal }) => {
              enter(by, !safe)
              if (safe && turnsOutUnsafe) {
                leave(by)
                await alone()
                enter(by, !signal.aborted)
              }
              for (let step = 0; step < steps && !signal.aborted; step++) await Promise.resolve()
              leave(by)
              return { by, how: signal.aborted ? 'broken' : how }
            },
          })
        }
        settled = true
        scheduler.settle()
        if (abortAfter !== null) {
          for (let step = 0; step < abortAfter; step++) await Promise.resolve()
          run.abort('interrupted')
        }
        const results = await Promise.all(scheduler.results)
        await scheduler.close()
        expect(wrong).toEqual([])
        expect(results).toHaveLength(calls.length)
        for (const [index, { by, how }] of results.entries()) if (!how.startsWith('skipped')) expect(by).toBe(index)
        const firsts = begun.filter((by, at) => begun.indexOf(by) === at)
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b))
        expect(running.size).toBe(0)
        expect(getEventListeners(run.signal, 'abort')).toHaveLength(0)
        if (abortAfter === null && calls.every(({ how }) => how === 'ok')) {
          expect(results.every(({ how }) => how === 'ok')).toBe(true)
        }
      },
    ),
    { numRuns: tries(500) },
  )
})

test('safe calls that are not early begin in parallel when the response is complete, and continue if one has an internal error', async () => {
  const scheduler = open()
  const [early, first, second] = [held(0), held(1), held(2)]
  scheduler.add({ safe: true, run: early.run })
  scheduler.add({ safe: true, early: false, run: first.run })
  scheduler.add({ safe: true, early: false, run: second.run })
  expect([early.begun, first.begun, second.begun]).toEqual([true, false, false])
  scheduler.settle()
  expect([first.begun, second.begun]).toEqual([true, true])
  first.end('broken')
  await scheduler.results[1]
  second.end()
  early.end()
  expect((await ended(scheduler)).map(({ how }) => how)).toEqual(['ok', 'broken', 'ok'])
})

test('after such a failure, calls that may change something are not run, but read-only ones are', async () => {
  const scheduler = new Scheduler<Result>({
    limit: 10,
    signal: new AbortController().signal,
    isBroken: () => false,
    stopsLater: ({ how }) => how === 'broken',
    skipped: (reason) => ({ by: -1, how: `skipped: ${reason}` }),
  })
  const tasks = [held(0), held(1), held(2), held(3)]
  for (const [at, { run }] of tasks.entries()) scheduler.add({ safe: false, readOnly: at === 2, run })
  tasks[0]?.end()
  tasks[1]?.end('broken')
  tasks[2]?.end()
  expect((await ended(scheduler)).map(({ how }) => how)).toEqual(['ok', 'broken', 'ok', 'skipped: failed'])
})
