import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { packResult, unpackResult } from '../../../engine/batch/queue/attempt-result.ts'
import { refuseOpenWire } from '../../../engine/batch/queue/carrier.ts'
import { BatchFolder } from '../../../engine/batch/folder/batch-folder.ts'
import { supervisorOf } from '../../../engine/batch/folder/supervisor-lock.ts'
import { batchPlace, committed, recordingOf, tasksFile, type BatchPlace } from '../../support/batch.ts'
import { startFarWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis, type TestRedis } from '../../support/redis.ts'

const test = testUnlessOnCi(whyNoRedis())

const settles = (place: BatchPlace): number =>
  place.lines('journal.jsonl').filter(({ type }) => type === 'settled').length
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(50)
}
const runs = (place: BatchPlace, trial: string) => (): boolean => {
  const file = join(place.out, 'runs', trial, '1/step.json')
  return existsSync(file) && readFileSync(file, 'utf8').includes('sleep')
}
const batchKeys = (redis: TestRedis): readonly string[] =>
  redis
    .cli('--scan', '--pattern', '*')
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith('portcullis:rate:'))

/** Prepares a batch of these tasks whose runs execute this command: a folder, a Redis, and a function that runs the batch. */
async function scene(ids: readonly string[], command: string) {
  const redis = await startRedis()
  const place = batchPlace({ 'tasks.jsonl': tasksFile(ids) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf(command), '--retry-seconds', '0.01']
  return {
    redis,
    place,
    run: (...more: string[]) => place.run([...words, '--queue', redis.url, '--through-queue', ...more]),
  }
}

/** All keys and values in a Redis server. */
function dump(redis: TestRedis): string {
  const script = `
    local all, from = {}, '0'
    repeat
      local found = redis.call('scan', from, 'count', 1000)
      from = found[1]
      for _, key in ipairs(found[2]) do
        table.insert(all, key)
        local kind = redis.call('type', key).ok
        local read = { string = {'get', key}, hash = {'hgetall', key}, list = {'lrange', key, 0, -1}, set = {'smembers', key},
          zset = {'zrange', key, 0, -1}, stream = {'xrange', key, '-', '+'} }
        table.insert(all, cjson.encode(redis.call(unpack(read[kind]))))
      end
    until from == '0'
    return table.concat(all, '\\n')`
  return redis.cli('--raw', 'eval', script, '0')
}

test('two workers without the folder run a batch through Redis, which holds no key of a model, and nothing at the end', async () => {
  const repo = committed({ 'a.txt': 'canary-of-a-file\n' })
  const redis = await startRedis()
  const line = (id: string) => `${JSON.stringify({ id, prompt: `canary-prompt ${id}`, repo })}\n`
  const place = batchPlace({ 'tasks.jsonl': ['a', 'b', 'c'].map(line).join('') })
  const model = recordingOf('cat a.txt; sleep 2; echo canary-of-a-change > x')
  const env = { OPENAI_API_KEY: 'sk-canary-api-key' }
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', model, '--queue', redis.url, '--through-queue']
  const running = place.run(words, { env })
  const workers = [startFarWorker(redis), startFarWorker(redis)]
  let seen = ''
  let isOver = false
  const looking = (async () => {
    while (!isOver) {
      seen += dump(redis)
      await sleep(200)
    }
    // Errors in this loop are ignored: if the test fails, Redis is stopped while the loop is still running.
  })().catch(() => undefined)
  expect((await running).code).toBe(0)
  isOver = true
  await looking
  expect(seen).toContain(':results')
  expect(seen).toContain('canary-prompt')
  expect(seen).not.toContain('sk-canary')
  expect(place.lines('results.jsonl').map(({ id, outcome }) => [id, outcome])).toEqual([
    ['a', 'done'],
    ['b', 'done'],
    ['c', 'done'],
  ])
  const kept = join(place.out, 'runs/b/1')
  expect(readFileSync(join(kept, 'changes.patch'), 'utf8')).toContain('+canary-of-a-change')
  expect(existsSync(join(kept, 'report.html'))).toBe(true)
  const log = readFileSync(join(kept, 'session/events.jsonl'), 'utf8')
  expect(log).toContain('canary-of-a-file')
  expect(settles(place)).toBe(3)
  for (const { pid } of workers) process.kill(pid(), 'SIGTERM')
  for (const { ended } of workers) await ended
  // Keys in which workers keep notes about their queue may remain, because they don't belong to the batch.
  expect(batchKeys(redis).filter((name) => !/:(?:meta|stalled-check)$/.test(name))).toEqual([])
})

test('if a worker dies, another gets its run, although they share nothing but Redis', async () => {
  const { redis, place, run } = await scene(['a'], 'sleep 3; echo x > x')
  const running = run()
  const first = startFarWorker(redis)
  await until(runs(place, 'a'))
  process.kill(first.pid(), 'SIGKILL')
  startFarWorker(redis)
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({ outcome: 'lost' })
  expect(settles(place)).toBe(1)
})

test('a result that cannot be delivered by the deadline does not count, and the next attempt succeeds', async () => {
  const { redis, place, run } = await scene(['a'], 'sleep 3; head -c 2000000 /dev/urandom > x')
  const running = run()
  // The lock must last longer than the delay, because a run whose lock isn't renewed is stopped.
  const worker = startFarWorker(redis, '--hand-in-seconds', '2', '--lock-seconds', '20')
  await until(runs(place, 'a'))
  redis.cli('config', 'set', 'maxmemory', '1')
  await until(() => worker.said().includes('could not be delivered within 2 s'))
  redis.cli('config', 'set', 'maxmemory', '0')
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  const late = JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8')) as object
  expect(late).toMatchObject({ outcome: 'infrastructure', error: expect.stringContaining('within 2 s') as string })
})

test('a result that cannot be read does not count, and the next attempt succeeds', async () => {
  const { redis, place, run } = await scene(['a'], 'sleep 2; echo x > x')
  const running = run()
  startFarWorker(redis, '--lock-seconds', '60')
  await until(runs(place, 'a'))
  const pid = supervisorOf(place.out)?.pid ?? 0
  // The coordinator is stopped, so that it doesn't take the result before the result is changed.
  process.kill(pid, 'SIGSTOP')
  await until(() => redis.cli('--scan', '--pattern', 'portcullis:far:*:results').trim() !== '')
  const results = redis.cli('--scan', '--pattern', 'portcullis:far:*:results').trim()
  redis.cli('hset', results, redis.cli('hkeys', results).trim(), 'x'.repeat(1000))
  process.kill(pid, 'SIGCONT')
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  const changed = JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8')) as object
  const error = expect.stringContaining("the result from its worker can't be read") as string
  expect(changed).toMatchObject({ outcome: 'infrastructure', error })
})

/** A folder with one attempt that has ended and has these files. */
async function endedAttempt(files: Readonly<Record<string, string>>): Promise<BatchFolder> {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('true')])
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place.out, 'runs/a/1', name), text, 'latin1')
  return BatchFolder.open(place.out, process.pid)
}

test('a result arrives byte for byte, with only those files that belong to it', async () => {
  const patch = String.fromCharCode(...Array.from({ length: 256 }, (_, at) => at))
  const folder = await endedAttempt({ 'changes.patch': patch, 'end-asked': 'x', 'session/made.txt': '\u00ff' })
  const { record, files } = await unpackResult(await packResult(folder, 'a', 1))
  expect(record).toEqual(folder.attemptOf('a', 1))
  expect(files).toMatchObject({ 'changes.patch': patch, 'session/made.txt': '\u00ff' })
  expect(
    Object.keys(files).filter((name) => !/^(?:changes\.patch|report\.html|stderr\.txt|session\/)/.test(name)),
  ).toEqual([])
})

test('a result that is too large for Redis counts as no answer, and the message says what to do', async () => {
  const folder = await endedAttempt({ 'changes.patch': 'x'.repeat(200_000) })
  const { record, files } = await unpackResult(await packResult(folder, 'a', 1, 100_000))
  expect(files).toEqual({})
  expect(record).toMatchObject({ outcome: 'infrastructure', tokens: folder.attemptOf('a', 1)?.tokens })
  expect(record.patch ?? record.session ?? record.exit_code).toBeUndefined()
  expect(record.error).toContain("may be sent through Redis; let the workers share the batch's folder (--store DIR)")
})

test('a result with a file that does not belong to an attempt, or that expands too much, is not unpacked', async () => {
  const record = (await endedAttempt({})).attemptOf('a', 1)
  const unpack = (files: Readonly<Record<string, string>>) =>
    unpackResult(gzipSync(JSON.stringify({ record, files })), 100_000)
  expect(await unpack({ 'session/a/..b': '' })).toEqual({ record, files: { 'session/a/..b': '' } })
  for (const path of [
    '../x',
    'session/../x',
    'session/a/..',
    'session/./x',
    'session//x',
    '/x',
    'result.json',
    'session',
  ])
    await expect(unpack({ [path]: '' })).rejects.toThrow('files')
  await expect(unpack({ 'changes.patch': 'x'.repeat(2_000_000) })).rejects.toThrow(RangeError)
})

test('without a shared folder, a connection without TLS is refused at both ends, unless it stays on this machine', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const run = ['run', 'tasks.jsonl', '-o', 'out', '--through-queue']
  for (const words of [
    [...run, '--queue', 'redis://queue:6379'],
    ['worker', '--queue', 'redis://queue:6379'],
  ]) {
    const { code, stderr } = await place.run(words)
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Either use TLS (rediss://HOST:PORT), or let the') as string,
    ])
    expect(stderr).toContain('--store DIR')
  }
  expect((await place.run(run)).stderr).toContain('--through-queue needs --queue')
  for (const url of ['rediss://queue', 'redis://me:word@127.0.0.1:6390', 'redis://localhost', 'redis://[::1]:1'])
    expect(() => refuseOpenWire(url)).not.toThrow()
  for (const url of ['redis://127.0.0.1:6379@queue', 'redis://127.0.0.1.example.com', 'redis://', 'queue'])
    expect(() => refuseOpenWire(url)).toThrow('Either use TLS')
  expect(existsSync(place.out)).toBe(false)
})
