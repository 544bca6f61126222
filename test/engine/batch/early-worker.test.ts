import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { batchPlace, recordingOf, tasksFile, type BatchPlace } from '../../support/batch.ts'
import { startFarWorker, startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis } from '../../support/redis.ts'

const test = testUnlessOnCi(whyNoRedis())

const outcomes = (place: BatchPlace) => place.lines('results.jsonl').map(({ id, outcome }) => [id, outcome])

/** Waits until a process has printed something. */
async function until(said: () => string, what: RegExp): Promise<void> {
  while (!what.test(said())) await sleep(50)
}

test('a batch that no worker serves says so, and goes on when one comes', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
  let said = ''
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x'), '--queue', redis.url]
  const running = place.run(words, {
    onStart: (child) => void child.stderr?.on('data', (text: string) => (said += text)),
  })
  await until(
    () => said,
    /2 runs wait for a worker, and none has been there for 1\d seconds: start one with agent batch worker, with the same --queue/,
  )
  expect(outcomes(place)).toEqual([])
  await startWorker(place, redis)
  expect((await running).code).toBe(0)
  expect(outcomes(place)).toEqual([
    ['a', 'done'],
    ['b', 'done'],
  ])
})

test('a worker that shares the folder waits for a batch that is started later', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  let [said, pid] = ['', 0]
  const worker = place.run(['worker', '--queue', redis.url, '--store', 'out', '-w', '1'], {
    onStart: (child) => {
      pid = child.pid ?? 0
      child.stderr?.on('data', (text: string) => (said += text))
    },
  })
  onTestFinished(async () => {
    if (pid !== 0) process.kill(pid, 'SIGKILL')
    await worker
  })
  await until(() => said, /there is no batch in .*out yet: waiting for agent batch run -o/)
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x'), '--queue', redis.url]
  expect((await place.run(words)).code).toBe(0)
  expect(outcomes(place)).toEqual([['a', 'done']])
  process.kill(pid, 'SIGTERM')
  pid = 0
  expect((await worker).code).toBe(0)
})

test('a worker that shares only Redis waits for a batch that is started later', async () => {
  const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a']) })]
  const far = startFarWorker(redis)
  await sleep(3000)
  expect(spawnSync('kill', ['-0', String(far.pid())]).status).toBe(0)
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x'), '--queue', redis.url]
  expect((await place.run([...words, '--through-queue'])).code).toBe(0)
  expect(outcomes(place)).toEqual([['a', 'done']])
})

test('a worker that waits for a batch ends when it is asked to', async () => {
  const [redis, place] = [await startRedis(), batchPlace({})]
  let said = ''
  const worker = place.run(['worker', '--queue', redis.url, '--store', 'out'], {
    onStart: (child) =>
      void child.stderr?.on('data', (text: string) => {
        said += text
        if (said.includes('there is no batch')) child.kill('SIGTERM')
      }),
  })
  expect((await worker).code).toBe(0)
})
