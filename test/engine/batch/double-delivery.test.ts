import { existsSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { jobIdOf } from '../../../engine/batch/queue/attempt-files.ts'
import { batchPlace, dearModel, expectWhole, tasksFile, type BatchPlace } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'

const test = testUnlessOnCi(whyNoRedis())

/** Command-line arguments for a model that runs a four-second command. A run makes two requests, each of which costs a dollar. */
const slowModel = (): readonly string[] => dearModel('sleep 4; echo x > x')

/** Delivers the job of the first attempt again while a worker has it, as BullMQ does when it considers a lock lost. */
function deliverAgain(redis: TestRedis): void {
  const queue = `portcullis:batch-${hashIn(redis)}`
  const id = jobIdOf('a', 1)
  redis.cli('del', `${queue}:${id}:lock`)
  redis.cli('lrem', `${queue}:active`, '0', id)
  redis.cli('lpush', `${queue}:wait`, id)
  redis.cli('zadd', `${queue}:marker`, '0', '0')
}

function hashIn(redis: TestRedis): string {
  return /portcullis:batch-([0-9a-f]{16}):meta/.exec(redis.cli('keys', 'portcullis:*'))?.[1] ?? ''
}

const isThere = (place: BatchPlace, name: string): boolean => existsSync(join(place.out, name))
const runs = (place: BatchPlace): boolean =>
  isThere(place, 'runs/a/1/step.json') && readFileSync(join(place.out, 'runs/a/1/step.json'), 'utf8').includes('sleep')

test('a job that two workers get at once is run by one, settled once, and paid once', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...slowModel(), '--queue', redis.url]
  const running = place.run(words)
  await startWorker(place, redis)
  while (!runs(place)) await sleep(50)
  await startWorker(place, redis)
  deliverAgain(redis)
  // The other worker takes the job, and finds that it is in progress.
  while (redis.cli('exists', `portcullis:batch-${hashIn(redis)}:${jobIdOf('a', 1)}`).trim() !== '0') await sleep(50)
  expect(isThere(place, 'runs/a/1/result.json')).toBe(false)
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 1, cost_usd: 2 }])
  expect(place.json('summary.json')).toMatchObject({ settled: 1, attempts: 1, cost_usd: 2 })
  await expectWhole(place, words)
})

test('if two workers do run a job, one settles it, the other is superseded, and both are paid', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...slowModel(), '--retry-seconds', '0.01', '--queue', redis.url]
  const running = place.run(words)
  await startWorker(place, redis)
  while (!runs(place)) await sleep(50)
  await startWorker(place, redis)
  const first = readFileSync(join(place.out, 'runs/a/1/worker'), 'utf8').trim()
  while (!isThere(place, 'runs/a/1/result.json')) {
    // Simulates a worker that has lost access to the shared folder, so that the other worker considers it gone.
    utimesSync(join(place.out, 'workers', `${first}.json`), 0, 0)
    deliverAgain(redis)
    await sleep(500)
  }
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  expect(isThere(place, 'runs/a/1/superseded.json')).toBe(true)
  expect(place.json('summary.json')).toMatchObject({ settled: 1, attempts: 2, cost_usd: 4 })
  await expectWhole(place, words)
})
