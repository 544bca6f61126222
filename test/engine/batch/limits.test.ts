import { expect, onTestFinished, test } from 'vitest'
import { Concurrency } from '../../../engine/batch/run/concurrency.ts'
import { QuotaPause } from '../../../engine/batch/run/quota-pause.ts'
import { RateLimiter, type Clock, type LimiterOptions } from '../../../engine/batch/run/rate-limiter.ts'
import { rateLimitsIn } from '../../../engine/models/rate-headers.ts'
import { batchPlace, tasksFile } from '../../support/batch.ts'
import { say, startMockOpenAI, type Reply } from '../../support/mock-openai.ts'

const account = { provider: 'api.example.com', key: 'k', model: 'm' }

/** A clock that advances on request. */
function virtualClock(): Clock & { readonly runUntil: (end: number) => void } {
  let time = 0
  const waiting: { readonly at: number; readonly act: () => void }[] = []
  return {
    now: () => time,
    after: (ms, act) => void waiting.push({ at: time + ms, act }),
    runUntil: (end) => {
      for (;;) {
        waiting.sort((one, other) => one.at - other.at)
        const [next] = waiting
        if (next === undefined || next.at > end) break
        waiting.shift()
        time = next.at
        next.act()
      }
      time = end
    },
  }
}

function limiterOf(clock: Clock, more: Partial<LimiterOptions> = {}): RateLimiter {
  const limits = { requests: undefined, tokens: undefined }
  return new RateLimiter({ limits, throttled: () => undefined, usedUp: () => undefined, clock, ...more })
}

/** Creates a generator that always returns the same sequence of numbers. */
function chance(): () => number {
  let state = 1
  return () => (state = (state * 48271) % 2147483647) / 2147483647
}

test('32 workers use at least nine tenths of 60,000 tokens a minute, and never more', () => {
  const clock = virtualClock()
  const random = chance()
  const limiter = limiterOf(clock, { limits: { requests: undefined, tokens: 60_000 } })
  const sent: { readonly at: number; readonly tokens: number }[] = []
  const work = (): void => {
    const tokens = 800 + Math.round(random() * 2400)
    // Estimates are wrong by up to a fifth in either direction.
    limiter.enter(account, tokens * (0.8 + random() * 0.4), 'worker', (leave) => {
      sent.push({ at: clock.now(), tokens })
      clock.after(3000 + random() * 9000, () => {
        leave({ type: 'answered', tokens })
        clock.after(random() * 500, work)
      })
    })
  }
  for (let worker = 0; worker < 32; worker++) work()
  const minutes = 20
  clock.runUntil(minutes * 60_000)
  const within = (from: number): number =>
    sent.filter(({ at }) => at >= from && at < from + 60_000).reduce((sum, { tokens }) => sum + tokens, 0)
  // The first minute is left out, because the accuracy of the estimates is not known yet.
  const worst = Math.max(...sent.filter(({ at }) => at > 60_000).map(({ at }) => within(at)))
  expect(worst).toBeLessThanOrEqual(60_000 * 1.01)
  const used = sent.filter(({ at }) => at >= 60_000).reduce((sum, { tokens }) => sum + tokens, 0)
  expect(used / (minutes - 1)).toBeGreaterThanOrEqual(54_000)
})

test('requests are also limited by number, in order, and one that is larger than the limit gets through on its own', () => {
  const clock = virtualClock()
  const limiter = limiterOf(clock, { limits: { requests: 2, tokens: 1000 } })
  const admitted: [string, number][] = []
  const ask = (name: string, tokens: number): void =>
    limiter.enter(account, tokens, name, (leave) => {
      admitted.push([name, clock.now()])
      leave({ type: 'answered', tokens })
    })
  for (const [name, tokens] of [
    ['a', 10],
    ['b', 10],
    ['c', 5000],
    ['d', 10],
  ] as const)
    ask(name, tokens)
  clock.runUntil(600_000)
  expect(admitted).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 61_000],
    ['d', 122_000],
  ])
})

test('a refusal delays every request of that key and model until its Retry-After, and counts once', () => {
  const clock = virtualClock()
  const throttled: number[] = []
  const limiter = limiterOf(clock, { throttled: (until) => throttled.push(until) })
  const leaves: ((end: Parameters<Parameters<Parameters<RateLimiter['enter']>[3]>[0]>[0]) => void)[] = []
  for (let run = 0; run < 3; run++) limiter.enter(account, 10, `${run}`, (leave) => leaves.push(leave))
  for (const leave of leaves) leave({ type: 'failed', kind: 'limit', waitMs: 7000 })
  expect(throttled).toEqual([7000])
  const admitted: [string, number][] = []
  limiter.enter(account, 10, 'same', () => admitted.push(['same', clock.now()]))
  limiter.enter({ ...account, key: 'other' }, 10, 'other', () => admitted.push(['other', clock.now()]))
  clock.runUntil(60_000)
  expect(admitted).toEqual([
    ['other', 0],
    ['same', 7000],
  ])
})

test('limits are learned from providers’ responses, but the user’s own take precedence', () => {
  const clock = virtualClock()
  const limiter = limiterOf(clock, { limits: { requests: undefined, tokens: 100 } })
  limiter.heard(account, { requests: 1, tokens: 1_000_000 })
  const admitted: number[] = []
  for (let at = 0; at < 2; at++) limiter.enter(account, 60, 'run', () => admitted.push(clock.now()))
  clock.runUntil(200_000)
  expect(admitted).toEqual([0, 61_000])
  const header = (all: Record<string, string>) => (name: string) => all[name] ?? null
  expect(rateLimitsIn(header({ 'x-ratelimit-limit-requests': '500', 'x-ratelimit-limit-tokens': '30000' }))).toEqual({
    requests: 500,
    tokens: 30_000,
  })
  expect(rateLimitsIn(header({ 'anthropic-ratelimit-tokens-limit': '80000' }))).toEqual({
    requests: undefined,
    tokens: 80_000,
  })
  expect(rateLimitsIn(header({ 'x-ratelimit-limit-tokens': 'many' }))).toBeUndefined()
})

test('a waiting request is forgotten when its run ends', () => {
  const clock = virtualClock()
  const limiter = limiterOf(clock, { limits: { requests: 1, tokens: undefined } })
  const admitted: string[] = []
  for (const name of ['a', 'b', 'c']) limiter.enter(account, 1, name, () => admitted.push(name))
  limiter.leave('b')
  clock.runUntil(100_000)
  expect(admitted).toEqual(['a', 'c'])
})

test('the number of parallel runs shrinks to four fifths with each refusal, never below one, and grows again', () => {
  let now = 0
  const concurrency = new Concurrency(() => now)
  expect(concurrency.of(10)).toBe(10)
  concurrency.throttled()
  expect(concurrency.of(10)).toBe(8)
  concurrency.throttled()
  expect(concurrency.of(10)).toBe(6)
  for (let times = 0; times < 20; times++) concurrency.throttled()
  expect(concurrency.of(10)).toBe(1)
  now = 3_600_000
  expect(concurrency.of(10)).toBe(10)
})

test('without a stated time, the waits for quota grow; runs that were refused together wait once', () => {
  const pause = new QuotaPause()
  expect(pause.until(0, 5000).getTime()).toBe(5000)
  expect(pause.until(0, undefined).getTime()).toBe(300_000)
  expect(pause.until(1000, undefined).getTime()).toBe(300_000)
  expect(pause.until(300_000, undefined).getTime()).toBe(900_000)
})

/** Starts a mock model on loopback. Returns the command-line arguments that select it, and the times at which it received requests. */
async function mockModel(
  reply: (index: number) => Reply,
): Promise<{ readonly words: readonly string[]; readonly at: number[] }> {
  const at: number[] = []
  const mock = await startMockOpenAI({
    replies: (_, index) => {
      at.push(Date.now())
      return reply(index)
    },
  })
  onTestFinished(() => mock.close())
  return { words: ['-m', 'gpt-5.5', '-c', `openai_base_url="${mock.baseUrl}"`], at }
}
const key = { env: { OPENAI_API_KEY: 'sk-test-key' } }

test('after a 429 no run asks before its Retry-After, and all of them finish', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b', 'c', 'd']) })
  let refusedAt = 0
  const { words, at } = await mockModel((index) => {
    if (index !== 1) return [say('done')]
    refusedAt = Date.now()
    return {
      status: 429,
      headers: { 'retry-after': '3' },
      body: { error: { message: 'slow', code: 'rate_limit_exceeded' } },
    }
  })
  expect((await place.run(['run', 'tasks.jsonl', '-o', 'out', '-w', '2', ...words], key)).code).toBe(0)
  expect(at).toHaveLength(5)
  // Requests that were sent at the same time as the refused one don't count.
  expect(at.filter((time) => time > refusedAt + 300 && time < refusedAt + 2900)).toEqual([])
})

test('used-up quota pauses the batch and uses up no attempt, and the batch continues by itself', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b', 'c', 'd', 'e']) })
  let isEmpty = false
  const { words } = await mockModel((index) => {
    if (index === 1) {
      isEmpty = true
      setTimeout(() => (isEmpty = false), 2000)
    }
    if (!isEmpty) return [say('done')]
    return {
      status: 429,
      headers: { 'retry-after': '3' },
      body: { error: { message: 'no credit', code: 'insufficient_quota' } },
    }
  })
  const more = ['-w', '2', '--attempts', '1', '--retry-seconds', '0.01']
  expect((await place.run(['run', 'tasks.jsonl', '-o', 'out', ...more, ...words], key)).code).toBe(0)
  const journal = place.lines('journal.jsonl')
  expect(journal.filter(({ type }) => type === 'paused').length).toBeGreaterThan(0)
  const quota = journal.filter(({ outcome }) => outcome === 'quota').length
  expect(quota).toBeGreaterThan(0)
  expect(quota).toBeLessThanOrEqual(2)
  expect(place.json('summary.json')).toMatchObject({ settled: 5, outcomes: { done: 5 } })
})
