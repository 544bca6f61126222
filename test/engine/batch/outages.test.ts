import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { batchPlace, dearModel, expectWhole, tasksFile, type BatchPlace } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'

const test = testUnlessOnCi(whyNoRedis())

const outcomesOf = (place: BatchPlace) =>
  place.lines('results.jsonl').map(({ id, outcome, attempts }) => [id, outcome, attempts])
const bothDone = [
  ['a', 'done', 1],
  ['b', 'done', 1],
]

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(50)
}
const ended = (place: BatchPlace, trial: string, attempt: number): boolean =>
  existsSync(join(place.out, 'runs', trial, String(attempt), 'result.json'))
const runs = (place: BatchPlace, trial: string, attempt: number) => (): boolean => {
  const file = join(place.out, 'runs', trial, String(attempt), 'step.json')
  return existsSync(file) && readFileSync(file, 'utf8').includes('sleep')
}

/** Puts a proxy in front of a Redis server, so that the connection to it can be cut. */
async function byProxy(redis: TestRedis): Promise<{ readonly redis: TestRedis; readonly proxy: TcpProxy }> {
  const proxy = await startTcpProxy(Number(new URL(redis.url).port))
  return { proxy, redis: { ...redis, url: `redis://127.0.0.1:${proxy.port}` } }
}

// Only the soak tests wait five minutes.
const outages = process.env['SOAK'] === undefined ? [10, 60] : [10, 60, 300]

test.each(outages)(
  'a Redis that is dead for %i seconds holds the batch up, and costs no attempt',
  async (seconds) => {
    const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
    const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('sleep 3; echo x > x')]
    const onRedis = [...words, '--queue', redis.url]
    const running = place.run(onRedis)
    await startWorker(place, redis)
    await until(runs(place, 'a', 1))
    await redis.kill()
    await sleep(seconds * 1000)
    expect(ended(place, 'a', 1)).toBe(true)
    await redis.start()
    expect((await running).code).toBe(0)
    expect(outcomesOf(place)).toEqual(bothDone)
    await expectWhole(place, onRedis)
  },
  600_000,
)

test('a run continues while Redis is down for half the lock time, and ends if Redis is down for longer', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 25; echo x > x'), '--retry-seconds', '0.01']
  const onRedis = [...words, '--queue', redis.url]
  const running = place.run(onRedis)
  await startWorker(place, redis, '--lock-seconds', '8')
  await until(runs(place, 'a', 1))
  await redis.kill()
  await until(() => ended(place, 'a', 1))
  await redis.start()
  expect((await running).code).toBe(0)
  expect(outcomesOf(place)).toEqual([['a', 'done', 2]])
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({
    outcome: 'interrupted',
    cost_usd: 1,
  })
  await expectWhole(place, onRedis)
})

test.each(['cut', 'halt'] as const)(
  'a worker whose network is gone (%s) past its lock ends its run, and another makes the next attempt',
  async (how) => {
    const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
    const far = await byProxy(redis)
    const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 25; echo x > x'), '--retry-seconds', '0.01']
    const onRedis = [...words, '--queue', redis.url]
    const running = place.run(onRedis)
    await startWorker(place, far.redis, '--lock-seconds', '8')
    await until(runs(place, 'a', 1))
    await startWorker(place, redis, '--lock-seconds', '8')
    far.proxy[how]()
    await until(() => ended(place, 'a', 1))
    await until(runs(place, 'a', 2))
    // The network comes back while another worker has the run.
    far.proxy.mend()
    expect((await running).code).toBe(0)
    expect(outcomesOf(place)).toEqual([['a', 'done', 2]])
    await expectWhole(place, onRedis)
  },
)

test.each(['cut', 'halt'] as const)(
  'a coordinator whose network is gone (%s) takes what workers made meanwhile, and goes on',
  async (how) => {
    const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
    const far = await byProxy(redis)
    const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('sleep 5; echo x > x')]
    const running = place.run([...words, '--queue', far.redis.url])
    await startWorker(place, redis)
    await until(runs(place, 'a', 1))
    far.proxy[how]()
    // The second run has been recorded, but nobody has handed it out yet.
    await until(() => existsSync(join(place.out, 'runs/b/1/wish.json')))
    expect(existsSync(join(place.out, 'runs/a/settled.json'))).toBe(true)
    await sleep(2000)
    far.proxy.mend()
    expect((await running).code).toBe(0)
    expect(outcomesOf(place)).toEqual(bothDone)
    await expectWhole(place, [...words, '--queue', redis.url])
  },
)

test.each(['cut', 'halt'] as const)(
  'Ctrl-C ends a coordinator whose network is gone (%s), and the run that a worker has',
  async (how) => {
    const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
    const far = await byProxy(redis)
    const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 100; echo x > x')]
    let pid = 0
    const running = place.run([...words, '--queue', far.redis.url], { onStart: (child) => (pid = child.pid ?? 0) })
    await startWorker(place, redis)
    await until(runs(place, 'a', 1))
    far.proxy[how]()
    process.kill(pid, 'SIGINT')
    expect((await running).code).toBe(130)
    // The worker must have written this file: the coordinator has no record of what the run spent.
    expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({
      outcome: 'interrupted',
      cost_usd: 1,
    })
  },
)

test('if Redis is full in the middle of a batch, the batch waits until there is room', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('sleep 5; echo x > x')]
  const onRedis = [...words, '--queue', redis.url]
  let told = ''
  const running = place.run(onRedis, { onStart: (child) => child.stderr?.on('data', (text: string) => (told += text)) })
  await startWorker(place, redis)
  await until(runs(place, 'a', 1))
  redis.cli('config', 'set', 'maxmemory', '1')
  await until(() => told.includes("Jobs can't be assigned"))
  expect(existsSync(join(place.out, 'runs/a/settled.json'))).toBe(true)
  redis.cli('config', 'set', 'maxmemory', '0')
  expect((await running).code).toBe(0)
  expect(outcomesOf(place)).toEqual(bothDone)
  await expectWhole(place, onRedis)
})
