import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { connectCarrier } from '../../../engine/batch/queue/carrier.ts'
import { SharedRateLimiter, watchRefusals } from '../../../engine/batch/queue/shared-limiter.ts'
import type { RateBudget } from '../../../engine/batch/run/rate-budget.ts'
import type { RequestLimiter } from '../../../engine/batch/run/rate-limiter.ts'
import { batchPlace, tasksFile } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { say, startMockOpenAI } from '../../support/mock-openai.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'

const test = testUnlessOnCi(whyNoRedis())
const account = { provider: 'api.example.com', key: 'k', model: 'm' }

/** Creates rate limiters for several workers, each with its own connection. */
async function limitersOf(
  redis: TestRedis,
  count: number,
  limits: { readonly requests?: number; readonly tokens?: number },
  windowMs: number,
): Promise<readonly RequestLimiter[]> {
  const alone: RequestLimiter = {
    enter: () => expect.fail('Redis answers'),
    leave: () => undefined,
    heard: () => undefined,
  }
  return Promise.all(
    Array.from({ length: count }, async () => {
      const carrier = await connectCarrier(redis.url)
      onTestFinished(carrier.close)
      const own = () => ({ requests: limits.requests, tokens: limits.tokens })
      return new SharedRateLimiter(carrier, { batch: 'b', limits: own, alone, say: () => undefined, windowMs })
    }),
  )
}

/** The budget of the only account in Redis. */
const budgetIn = (redis: TestRedis): RateBudget =>
  JSON.parse(redis.cli('get', redis.cli('--scan', '--pattern', 'portcullis:rate:[0-9a-f]*').trim())) as RateBudget

const entered = (limiter: RequestLimiter, tokens: number, owner = 'run') =>
  new Promise<{ readonly leave: Parameters<Parameters<RequestLimiter['enter']>[3]>[0] }>((resolve) =>
    limiter.enter(account, tokens, owner, (leave) => resolve({ leave })),
  )

test('32 workers in four processes together stay within the tokens of a window', async () => {
  const [redis, windowMs, most] = [await startRedis(), 3000, 6000]
  const limiters = await limitersOf(redis, 4, { tokens: most }, windowMs)
  const sent: { readonly at: number; readonly tokens: number }[] = []
  const work = async (limiter: RequestLimiter, worker: number): Promise<void> => {
    for (let round = 0; round < 2; round++) {
      const tokens = 300 + ((worker * 7 + round) % 5) * 50
      const { leave } = await entered(limiter, tokens)
      sent.push({ at: Date.now(), tokens })
      await sleep(50)
      leave({ type: 'answered', tokens })
    }
  }
  await Promise.all(limiters.flatMap((limiter, at) => Array.from({ length: 8 }, (_, n) => work(limiter, at * 8 + n))))
  expect(sent).toHaveLength(64)
  const { sent: counted } = budgetIn(redis)
  expect(counted.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThan(64)
  expect(counted.reduce((sum, { tokens: used }) => sum + used, 0)).toBeLessThanOrEqual(most)
  // Every window that ends with a request holds no more than the limit.
  for (const { at } of sent) {
    const within = sent.filter((each) => each.at > at - windowMs && each.at <= at)
    expect(within.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(most)
  }
})

test('a refusal for one worker delays the others, and is reported to the coordinator once', async () => {
  const redis = await startRedis()
  const [one, other] = await limitersOf(redis, 2, {}, 3000)
  if (one === undefined || other === undefined) throw new Error('two were asked for')
  const carrier = await connectCarrier(redis.url)
  onTestFinished(carrier.close)
  let throttled = 0
  onTestFinished(watchRefusals(carrier, 'b', () => (throttled += 1)))
  const both = [await entered(one, 10), await entered(one, 10)]
  await sleep(1500)
  for (const { leave } of both) leave({ type: 'failed', kind: 'limit', waitMs: 4000 })
  while (budgetIn(redis).heldUntil === 0) await sleep(20)
  const held = budgetIn(redis).heldUntil
  await entered(other, 10)
  const [seconds = '', micros = ''] = redis.cli('time').split('\n')
  expect(Number(seconds) * 1000 + Number(micros) / 1000).toBeGreaterThanOrEqual(held)
  while (throttled === 0) await sleep(50)
  expect(throttled).toBe(1)
})

test('limits that one worker learns apply to all, and an ended run no longer waits', async () => {
  const redis = await startRedis()
  const [one, other] = await limitersOf(redis, 2, {}, 2000)
  if (one === undefined || other === undefined) throw new Error('two were asked for')
  one.heard(account, { requests: 1, tokens: undefined })
  while (!redis.cli('--scan', '--pattern', 'portcullis:rate:*').includes('rate')) await sleep(20)
  await entered(one, 10)
  const order: string[] = []
  one.enter(account, 10, 'gone', () => order.push('gone'))
  const next = entered(other, 10, 'next').then(() => order.push('next'))
  one.leave('gone')
  await next
  expect(order).toEqual(['next'])
})

test('after a 429 to one worker none of them asks before its Retry-After', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b', 'c', 'd', 'e']) })]
  let refusedAt = 0
  const at: number[] = []
  const mock = await startMockOpenAI({
    replies: (_, index) => {
      at.push(Date.now())
      if (index !== 1) return [say('done')]
      refusedAt = Date.now()
      const body = { error: { message: 'slow', code: 'rate_limit_exceeded' } }
      return { status: 429, headers: { 'retry-after': '4' }, body }
    },
  })
  onTestFinished(() => mock.close())
  const env = { OPENAI_API_KEY: 'sk-test-key' }
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', 'gpt-5.5', '-c', `openai_base_url="${mock.baseUrl}"`]
  const running = place.run([...words, '--queue', redis.url], { env })
  const own = { ...place, run: (more: readonly string[], options = {}) => place.run(more, { ...options, env }) }
  await startWorker(own, redis)
  await startWorker(own, redis)
  expect((await running).code).toBe(0)
  expect(at).toHaveLength(6)
  // A request that was sent at the same time as the refused one doesn't count.
  expect(at.filter((time) => time > refusedAt + 1000 && time < refusedAt + 3900)).toEqual([])
})
