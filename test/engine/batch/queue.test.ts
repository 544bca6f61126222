import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import {
  batchPlace,
  committed,
  dearModel,
  expectWhole,
  recordingOf,
  tasksFile,
  type BatchPlace,
} from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi, whyNoBubblewrap } from '../../support/needs.ts'
import { startRedis, whyNoRedis } from '../../support/redis.ts'

const test = testUnlessOnCi(whyNoRedis())
const testHidden = testUnlessOnCi(whyNoRedis() ?? whyNoBubblewrap())

const outcomesOf = (place: BatchPlace) =>
  place.lines('results.jsonl').map(({ id, outcome, attempts }) => [id, outcome, attempts])
const settles = (place: BatchPlace): number =>
  place.lines('journal.jsonl').filter(({ type }) => type === 'settled').length

type Ran = { readonly started: string; readonly ended: string }

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(50)
}
const isThere = (place: BatchPlace, name: string) => (): boolean => existsSync(join(place.out, name))
const runs = (place: BatchPlace, trial: string, attempt: number) => (): boolean => {
  const file = join(place.out, 'runs', trial, String(attempt), 'step.json')
  return existsSync(file) && readFileSync(file, 'utf8').includes('sleep')
}

test('two workers do the runs of a batch, and Redis holds only names and hashes', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b', 'c', 'd']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('sleep 1; echo x > x'), '--queue', redis.url]
  const running = place.run(words)
  const workers = [await startWorker(place, redis), await startWorker(place, redis)]
  await until(isThere(place, 'runs/a/1/wish.json'))
  const jobs = redis.cli(
    '--raw',
    'eval',
    "local all = {} for _, key in ipairs(redis.call('keys', '*')) do if redis.call('type', key).ok == 'hash' then for _, value in ipairs(redis.call('hgetall', key)) do table.insert(all, value) end end end return all",
    '0',
  )
  expect(jobs).not.toContain('do a')
  expect((await running).code).toBe(0)
  expect(outcomesOf(place)).toEqual(['a', 'b', 'c', 'd'].map((id) => [id, 'done', 1]))
  expect(settles(place)).toBe(4)
  for (const worker of workers) process.kill(worker.pid(), 'SIGTERM')
  await Promise.all(workers.map(({ ended }) => ended))
  expect((await place.run(words)).code).toBe(0)
  expect(settles(place)).toBe(4)
})

test('a worker that is killed loses its run, and another makes the next attempt', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 3; echo x > x'), '--retry-seconds', '0.01']
  const onRedis = [...words, '--queue', redis.url]
  const running = place.run(onRedis)
  const first = await startWorker(place, redis, '--lock-seconds', '4')
  await until(runs(place, 'a', 1))
  process.kill(first.pid(), 'SIGKILL')
  await startWorker(place, redis, '--lock-seconds', '4')
  expect((await running).code).toBe(0)
  expect(outcomesOf(place)).toEqual([['a', 'done', 2]])
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({ outcome: 'lost' })
  expect(place.json('summary.json')).toMatchObject({ cost_usd: 3 })
  await expectWhole(place, onRedis)
})

test('a run that kills two workers is lost, and no third worker gets it', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('sleep 2; echo x > x')]
  const onRedis = [...words, '--queue', redis.url, '--retry-seconds', '0.01']
  const running = place.run(onRedis)
  for (const attempt of [1, 2]) {
    const worker = await startWorker(place, redis, '--lock-seconds', '3')
    await until(runs(place, 'a', attempt))
    process.kill(worker.pid(), 'SIGKILL')
  }
  await startWorker(place, redis, '--lock-seconds', '3')
  expect((await running).code).toBe(1)
  expect(outcomesOf(place)).toEqual([
    ['a', 'lost', 2],
    ['b', 'done', 1],
  ])
  expect(place.json('summary.json')).toMatchObject({ cost_usd: 4 })
  await expectWhole(place, onRedis)
})

test('a Redis user with access to only the keys of batches is enough', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  redis.cli('acl', 'setuser', 'batch', 'on', '>word', '~portcullis:*', '+@all', '-@admin', '-@dangerous', '+info')
  const own = { ...redis, url: redis.url.replace('redis://', 'redis://batch:word@') }
  const running = place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x'), '--queue', own.url])
  await startWorker(place, own)
  expect((await running).code).toBe(0)
})

test('a worker that is stopped past its lock time and continues settles nothing twice', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 2; echo x > x'), '--retry-seconds', '0.01']
  const onRedis = [...words, '--queue', redis.url]
  const running = place.run(onRedis)
  const first = await startWorker(place, redis, '--lock-seconds', '3')
  await until(runs(place, 'a', 1))
  process.kill(first.pid(), 'SIGSTOP')
  await startWorker(place, redis, '--lock-seconds', '3')
  await until(isThere(place, 'runs/a/2'))
  process.kill(first.pid(), 'SIGCONT')
  expect((await running).code).toBe(0)
  expect(outcomesOf(place)).toEqual([['a', 'done', 2]])
  await until(isThere(place, 'runs/a/1/superseded.json'))
  await place.run(['report', 'out'])
  await expectWhole(place, onRedis)
})

test('if Redis has lost its jobs, they are queued again, and a run in progress is not started twice', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 12; echo x > x'), '--queue', redis.url]
  const running = place.run(words)
  await startWorker(place, redis)
  await startWorker(place, redis)
  await until(runs(place, 'a', 1))
  redis.cli('flushall')
  const { code, stdout } = await running
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 of 1 settled · 1 done') as string])
  expect(outcomesOf(place)).toEqual([['a', 'done', 1]])
  expect(settles(place)).toBe(1)
  await expectWhole(place, words, 2)
})

test('a Redis that forgot a job no worker has yet is given it again', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '2', ...dearModel('sleep 3; echo x > x')]
  const onRedis = [...words, '--queue', redis.url]
  const running = place.run(onRedis)
  await startWorker(place, redis)
  await until(() => runs(place, 'a', 1)() && isThere(place, 'runs/b/1/wish.json')())
  redis.cli('flushall')
  expect(await running).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 of 2 settled · 2 done') as string,
  })
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
  ])
  expect(settles(place)).toBe(2)
  await expectWhole(place, onRedis, 4)
})

test('a killed coordinator that is started again collects what workers finished meanwhile', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 2; echo x > x'), '--queue', redis.url]
  let pid = 0
  const first = place.run(words, { onStart: (child) => (pid = child.pid ?? 0) })
  await startWorker(place, redis)
  await until(runs(place, 'a', 1))
  process.kill(pid, 'SIGKILL')
  await first
  expect((await place.run(words)).code).toBe(0)
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
  ])
  await expectWhole(place, words)
})

test('a coordinator that is started again with another cost limit applies it to unassigned runs, and reserves the cost of assigned ones', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = [
    'run',
    'tasks.jsonl',
    '-o',
    'out',
    '-w',
    '2',
    ...dearModel('sleep 2; echo x > x'),
    '--queue',
    redis.url,
  ]
  const mostOf = (trial: string): unknown => {
    const file = join(place.out, 'runs', trial, '1/wish.json')
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { readonly max_cost: number }).max_cost : 0
  }
  let pid = 0
  const first = place.run([...words, '--max-cost', '200'], { onStart: (child) => (pid = child.pid ?? 0) })
  const worker = await startWorker(place, redis)
  await until(() => runs(place, 'a', 1)() && mostOf('b') === 100)
  // The worker is stopped, so that it takes no other job before the next start.
  process.kill(worker.pid(), 'SIGSTOP')
  process.kill(pid, 'SIGKILL')
  await first
  const again = place.run([...words, '--max-cost', '120'])
  await until(() => mostOf('b') === 0)
  process.kill(worker.pid(), 'SIGCONT')
  await until(isThere(place, 'runs/a/settled.json'))
  expect(mostOf('a')).toBe(100)
  expect((await again).code).toBe(0)
  expect(mostOf('b')).toBe(60)
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
  ])
  await expectWhole(place, words)
})

test('Ctrl-C withdraws unassigned jobs and ends assigned ones, and the next start continues', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 3; echo x > x'), '--queue', redis.url]
  let pid = 0
  const first = place.run(words, { onStart: (child) => (pid = child.pid ?? 0) })
  await startWorker(place, redis)
  await until(runs(place, 'a', 1))
  process.kill(pid, 'SIGINT')
  expect((await first).code).toBe(130)
  expect(place.json('summary.json')).toMatchObject({ settled: 0 })
  expect((await place.run(words)).code).toBe(0)
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 2],
    ['b', 'done', expect.any(Number) as number],
  ])
  await expectWhole(place, words)
})

test('a job that somebody put into Redis by hand is refused, and the worker continues', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...dearModel('sleep 1; echo x > x'), '--queue', redis.url]
  const running = place.run(words)
  const worker = await startWorker(place, redis)
  await until(runs(place, 'a', 1))
  const { connectCarrier } = await import('../../../engine/batch/queue/carrier.ts')
  const { openJobQueue } = await import('../../../engine/batch/queue/redis.ts')
  const carrier = await connectCarrier(redis.url)
  const { BatchFolder } = await import('../../../engine/batch/folder/batch-folder.ts')
  const batch = BatchFolder.open(place.out, 1).hash
  const queue = openJobQueue(carrier, batch)
  const good = { batch, task: 'a', manifest: batch }
  const bad: readonly object[] = [
    { ...good, options: ['--dangerously-bypass-approvals-and-sandbox'] },
    { ...good, manifest: 'f'.repeat(64) },
    { ...good, task: '../../etc' },
    { ...good, task: 'x'.repeat(1_000_000) },
    // This job is valid, but the batch has not handed it out.
    { ...good },
  ]
  for (const [at, data] of bad.entries()) await queue.add(`by-hand-${at}`, data as typeof good)
  expect((await running).code).toBe(0)
  for (const at of bad.keys()) {
    while ((await queue.look(`by-hand-${at}`)).state !== 'failed') await sleep(100)
  }
  await queue.close()
  carrier.close()
  process.kill(worker.pid(), 'SIGTERM')
  const { stderr } = await worker.ended
  expect(stderr.match(/a job was refused/g)).toHaveLength(5)
  expect(outcomesOf(place)).toEqual([['a', 'done', 1]])
  await expectWhole(place, words)
})

test('a Redis that may drop jobs is refused, and one that is full is asked again', async () => {
  const [redis, place] = [await startRedis('--maxmemory', '6mb'), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '2', ...dearModel('echo x > x'), '--queue', redis.url]
  redis.cli('config', 'set', 'maxmemory-policy', 'allkeys-lru')
  const refused = await place.run(words)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Set it to noeviction') as string])
  expect(existsSync(place.out)).toBe(false)
  redis.cli('config', 'set', 'maxmemory-policy', 'noeviction')
  redis.cli('config', 'set', 'maxmemory', '1')
  let told = ''
  const running = place.run(words, { onStart: (child) => child.stderr?.on('data', (text: string) => (told += text)) })
  await until(() => told.includes("Jobs can't be assigned"))
  redis.cli('config', 'set', 'maxmemory', '0')
  await startWorker(place, redis)
  const { code, stdout } = await running
  expect([code, stdout]).toEqual([0, expect.stringContaining('2 of 2 settled · 2 done') as string])
  // The reason comes from Redis, and is printed once.
  const said = told.split('\n').filter((line) => line.includes("Jobs can't be assigned"))
  expect(said).toEqual([
    expect.stringMatching(
      /^agent: Jobs can't be assigned to workers: .*maxmemory.*\. The batch tries again until it succeeds\.$/,
    ) as string,
  ])
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
  ])
  expect(settles(place)).toBe(2)
  await expectWhole(place, words, 4)
})

const labelled = (tasks: Readonly<Record<string, readonly string[]>>, repo = committed()): string =>
  Object.entries(tasks)
    .map(([id, labels]) => `${JSON.stringify({ id, prompt: `do ${id}`, repo, labels })}\n`)
    .join('')
const workerOf = (place: BatchPlace, trial: string): number =>
  Number(
    readFileSync(join(place.out, 'runs', trial, '1/worker'), 'utf8')
      .trim()
      .split('-')
      .at(-1),
  )

test('a worker takes only tasks whose labels it has, and status shows the labels that are needed', async () => {
  const tasks = labelled({ a: ['docker'], b: [], c: ['docker', 'big'] })
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasks })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', '-m', recordingOf('echo x > x'), '--queue', redis.url]
  const running = place.run(words)
  const status = async (): Promise<string> => (await place.run(['status', 'out'])).stdout
  const untilSettled = async (trial: string): Promise<void> => {
    await until(isThere(place, `runs/${trial}/settled.json`))
    await sleep(2500)
  }
  const plain = await startWorker(place, redis)
  await untilSettled('b')
  const first = await status()
  expect(first).toContain(
    '1 run waits for a worker with the labels docker. To start one, run agent batch worker --labels docker\n',
  )
  expect(first).toContain('1 run waits for a worker with the labels big, docker')
  const docker = await startWorker(place, redis, '--labels', 'docker')
  await untilSettled('a')
  const second = await status()
  expect(second).not.toContain('labels docker:')
  expect(second).toContain('1 run waits for a worker with the labels big, docker')
  const big = await startWorker(place, redis, '--labels', 'big,docker,gpu')
  expect((await running).code).toBe(0)
  expect(['b', 'a', 'c'].map((trial) => workerOf(place, trial))).toEqual([plain.pid(), docker.pid(), big.pid()])
})

test('a worker with several queues runs no more tasks at once than requested', async () => {
  const tasks = labelled({ a: ['docker'], b: [], c: ['big'], d: [], e: ['docker'] })
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasks })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '8', '-m', recordingOf('sleep 1; echo x > x')]
  const running = place.run([...words, '--queue', redis.url])
  await startWorker(place, redis, '--labels', 'docker big')
  expect((await running).code).toBe(0)
  const times = place.lines('results.jsonl').map(({ id }) => {
    const result = JSON.parse(readFileSync(join(place.out, 'runs', String(id), '1/result.json'), 'utf8')) as Ran
    return [result.started, result.ended]
  })
  const inOrder = times.toSorted().flat()
  expect(inOrder).toHaveLength(10)
  expect(inOrder).toEqual(inOrder.toSorted())
})

test('without -w, as many runs are handed out as the workers can run at once', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(ids) })]
  const running = place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('sleep 600'), '--queue', redis.url])
  await startWorker(place, redis, '-w', '4')
  await startWorker(place, redis, '-w', '2')
  await until(() => ids.every((id) => runs(place, id, 1)()))
  await place.run(['cancel', 'out'])
  expect((await running).code).toBe(130)
})

test('a worker without labels refuses a job that needs labels, even if it is in the queue of jobs without labels', async () => {
  const tasks = labelled({ a: ['docker'], b: [] })
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasks })]
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x'), '--queue', redis.url]
  const running = place.run(words)
  const plain = await startWorker(place, redis)
  await until(isThere(place, 'runs/b/settled.json'))
  const { connectCarrier } = await import('../../../engine/batch/queue/carrier.ts')
  const { openJobQueue } = await import('../../../engine/batch/queue/redis.ts')
  const { jobIdOf } = await import('../../../engine/batch/queue/attempt-files.ts')
  const { BatchFolder } = await import('../../../engine/batch/folder/batch-folder.ts')
  const carrier = await connectCarrier(redis.url)
  const batch = BatchFolder.open(place.out, 1).hash
  const queue = openJobQueue(carrier, batch)
  await queue.add(jobIdOf('a', 1), { batch, task: 'a', manifest: batch })
  while ((await queue.look(jobIdOf('a', 1))).state !== 'failed') await sleep(100)
  await queue.close()
  carrier.close()
  process.kill(plain.pid(), 'SIGTERM')
  expect((await plain.ended).stderr).toContain("needs labels this worker doesn't have")
  await startWorker(place, redis, '--labels', 'docker')
  expect((await running).code).toBe(0)
})

test('labels that are not names are refused', async () => {
  const words = ['worker', '--queue', 'redis://127.0.0.1:1', '--store', 'out', '--labels', 'a/b']
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('true')])
  expect((await place.run(words)).stderr).toContain('--labels: expected names separated by commas, such as docker,big')
})

test('without a Redis address, or if none answers, it says what to do', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('true'), '--queue']
  expect((await place.run([...words, 'localhost'])).stderr).toContain('expected redis://HOST:PORT')
  const ended = await place.run([...words, 'redis://127.0.0.1:1'])
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('no Redis server answered') as string])
  expect(existsSync(place.out)).toBe(false)
})

test('why no run could be begun is said once, with the name of the program in front', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const running = place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', 'gpt-5.5', '--queue', redis.url])
  // This worker lacks the model's key, which the coordinator doesn't need.
  await startWorker(place, redis)
  const { code, stderr } = await running
  expect(code).toBe(2)
  expect(stderr).toMatch(/^agent: (?!agent: ).*OPENAI_API_KEY/m)
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({
    outcome: 'usage',
    error: expect.not.stringMatching(/^agent: /) as string,
  })
})

testHidden('without its two packages, it says how to install them and creates no folder', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('true'), '--queue', 'redis://127.0.0.1:1']
  const packages = new URL('../../../node_modules/', import.meta.url).pathname
  const without = ['bwrap', '--dev-bind', '/', '/', '--tmpfs', join(packages, 'bullmq'), '--']
  const ended = await place.run(words, { startedBy: without })
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('npm i bullmq@6 ioredis@5') as string])
  expect(existsSync(place.out)).toBe(false)
})
