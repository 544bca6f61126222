import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { BatchFolder } from '../../../engine/batch/folder/batch-folder.ts'
import { FarStore } from '../../../engine/batch/queue/far-store.ts'
import { connectCarrier } from '../../../engine/batch/queue/carrier.ts'
import { supervisorOf } from '../../../engine/batch/folder/supervisor-lock.ts'
import { batchPlace, dearModel, expectWhole, tasksFile, type BatchPlace } from '../../support/batch.ts'
import { startFarWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'

const test = testUnlessOnCi(whyNoRedis())

type Scene = {
  readonly redis: TestRedis
  readonly place: BatchPlace
  readonly words: readonly string[]
}

/** Prepares a batch of one task, whose coordinator and workers share nothing but Redis. Each of its requests costs a dollar. */
async function scene(...commands: readonly string[]): Promise<Scene> {
  const redis = await startRedis()
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel(...commands), '--retry-seconds', '0.01']
  return { redis, place, words: [...words, '--queue', redis.url, '--through-queue'] }
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(50)
}
const read = (place: BatchPlace, name: string): string => {
  const file = join(place.out, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
/** Returns a function that tells whether the first attempt is running its `sleep` and has this recorded cost, in US dollars. */
const hasSpent = (place: BatchPlace, dollars: number) => (): boolean => {
  const step = read(place, 'runs/a/1/step.json')
  return step.includes('sleep') && step.includes(`"cost_usd":${dollars}`)
}
const endOf = (place: BatchPlace, attempt: number): unknown => JSON.parse(read(place, `runs/a/${attempt}/result.json`))

test('what a run had spent counts, though its worker is killed and leaves nothing but what it had reported', async () => {
  const { redis, place, words } = await scene('true', 'sleep 3; echo x > x')
  const running = place.run(words)
  const first = startFarWorker(redis)
  await until(hasSpent(place, 2))
  process.kill(first.pid(), 'SIGKILL')
  startFarWorker(redis)
  expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining('$5.00') as string })
  expect(endOf(place, 1)).toMatchObject({ outcome: 'lost', cost_usd: 2, turns: 2, tokens: { input: 2000 } })
  expect(endOf(place, 2)).toMatchObject({ outcome: 'done', cost_usd: 3 })
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2, cost_usd: 5 }])
  await expectWhole(place, words, 5)
})

test('what a run had spent counts, though its worker and the coordinator are killed together', async () => {
  const { redis, place, words } = await scene('true', 'sleep 3; echo x > x')
  let coordinator = 0
  const running = place.run(words, { onStart: (child) => (coordinator = child.pid ?? 0) })
  const worker = startFarWorker(redis)
  await until(() => /"cost_usd":[12]/.test(read(place, 'runs/a/1/step.json')))
  // From now on, the worker's reports are only in Redis.
  process.kill(coordinator, 'SIGKILL')
  await running
  const carrier = await connectCarrier(redis.url)
  const store = new FarStore(carrier, BatchFolder.open(place.out, 1).hash)
  while (![...(await store.all('steps')).values()].some((step) => String(step).includes('"cost_usd":2')))
    await sleep(50)
  carrier.close()
  process.kill(worker.pid(), 'SIGKILL')
  const again = place.run(words)
  startFarWorker(redis)
  expect((await again).code).toBe(0)
  expect(endOf(place, 1)).toMatchObject({ outcome: 'lost', cost_usd: 2 })
  await expectWhole(place, words, 5)
})

test('what a run spent counts, though its result could not be handed in', async () => {
  const { redis, place, words } = await scene('sleep 3; head -c 2000000 /dev/urandom > x')
  const running = place.run(words)
  // The lock must last longer than the delay, because a run whose lock isn't renewed is stopped.
  const worker = startFarWorker(redis, '--hand-in-seconds', '2', '--lock-seconds', '20')
  await until(hasSpent(place, 1))
  redis.cli('config', 'set', 'maxmemory', '1')
  await until(() => worker.said().includes('could not be delivered within 2 s'))
  redis.cli('config', 'set', 'maxmemory', '0')
  expect((await running).code).toBe(0)
  expect(endOf(place, 1)).toMatchObject({ outcome: 'infrastructure', cost_usd: 2 })
  await expectWhole(place, words, 4)
})

test('what a run spent counts, though its result was changed in Redis', async () => {
  const { redis, place, words } = await scene('sleep 2; echo x > x')
  const running = place.run(words)
  startFarWorker(redis, '--lock-seconds', '60')
  await until(hasSpent(place, 1))
  const pid = supervisorOf(place.out)?.pid ?? 0
  // The coordinator is stopped, so that it doesn't take the result before the result is changed.
  process.kill(pid, 'SIGSTOP')
  const results = (): string => redis.cli('--scan', '--pattern', 'portcullis:far:*:results').trim()
  await until(() => results() !== '')
  redis.cli('hset', results(), redis.cli('hkeys', results()).trim(), 'x'.repeat(1000))
  process.kill(pid, 'SIGCONT')
  expect((await running).code).toBe(0)
  expect(endOf(place, 1)).toMatchObject({ outcome: 'infrastructure', cost_usd: 2 })
  await expectWhole(place, words, 4)
})

test('a worker that is told to end gives its run back, whose cost counts, and uses up no attempt', async () => {
  const { redis, place, words } = await scene('sleep 4; echo x > x')
  const running = place.run([...words, '--attempts', '1'])
  const first = startFarWorker(redis)
  await until(hasSpent(place, 1))
  process.kill(first.pid(), 'SIGTERM')
  await first.ended
  startFarWorker(redis)
  expect((await running).code).toBe(0)
  expect(endOf(place, 1)).toMatchObject({ outcome: 'interrupted', cost_usd: 1 })
  await expectWhole(place, words, 3)
})

test('a Redis that forgot all that workers had told it costs no run, where they share nothing else', async () => {
  const { redis, place, words } = await scene('sleep 12; echo x > x')
  const running = place.run(words)
  // Flushing Redis also removes the worker's lock, but the lock time is longer than the run.
  startFarWorker(redis, '--lock-seconds', '60')
  await until(hasSpent(place, 1))
  redis.cli('flushall')
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 1, cost_usd: 2 }])
  await expectWhole(place, words, 2)
})
