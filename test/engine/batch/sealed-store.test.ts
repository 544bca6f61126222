import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { BatchKey, makeBatchKey, NotAuthentic } from '../../../engine/batch/queue/batch-key.ts'
import { connectCarrier } from '../../../engine/batch/queue/redis.ts'
import { NotWhole, SealedStore } from '../../../engine/batch/queue/sealed-store.ts'
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

/** Prepares a batch of these tasks whose runs execute this command: a folder, a Redis, a key, and a function that runs the batch. */
async function scene(ids: readonly string[], command: string) {
  const [redis, key] = [await startRedis(), makeBatchKey()]
  const place = batchPlace({ 'tasks.jsonl': tasksFile(ids) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf(command), '--retry-seconds', '0.01']
  const env = { PORTCULLIS_BATCH_KEY: key, OPENAI_API_KEY: 'sk-canary-api-key' }
  return {
    redis,
    key,
    place,
    run: (...more: string[]) => place.run([...words, '--queue', redis.url, ...more], { env }),
  }
}

/** All keys and values in a Redis server, including the sealed data. */
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

test('two workers without the folder run a batch through Redis, which holds no plain text, and nothing at the end', async () => {
  const repo = committed({ 'a.txt': 'canary-of-a-file\n' })
  const [redis, key] = [await startRedis(), makeBatchKey()]
  const line = (id: string) => `${JSON.stringify({ id, prompt: `canary-prompt ${id}`, repo })}\n`
  const place = batchPlace({ 'tasks.jsonl': ['a', 'b', 'c'].map(line).join('') })
  const model = recordingOf('cat a.txt; sleep 2; echo canary-of-a-change > x; printenv PORTCULLIS_BATCH_KEY; true')
  const env = { PORTCULLIS_BATCH_KEY: key, OPENAI_API_KEY: 'sk-canary-api-key' }
  const running = place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', model, '--queue', redis.url], { env })
  const workers = [startFarWorker(redis, key), startFarWorker(redis, key)]
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
  expect(seen).toContain('"manifest')
  for (const secret of ['canary', repo, place.folder, key]) expect(seen).not.toContain(secret)
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
  expect(log).not.toContain(key)
  expect(settles(place)).toBe(3)
  for (const { pid } of workers) process.kill(pid(), 'SIGTERM')
  for (const { ended } of workers) await ended
  // Keys in which workers keep notes about their queue may remain, because they don't belong to the batch.
  expect(batchKeys(redis).filter((name) => !/:(?:announced|meta|stalled-check)$/.test(name))).toEqual([])
})

test('if a worker dies, another gets its run, although they share nothing but Redis', async () => {
  const { redis, key, place, run } = await scene(['a'], 'sleep 3; echo x > x')
  const running = run()
  const first = startFarWorker(redis, key)
  await until(runs(place, 'a'))
  process.kill(first.pid(), 'SIGKILL')
  startFarWorker(redis, key)
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({ outcome: 'lost' })
  expect(settles(place)).toBe(1)
})

test('a result that is too large for Redis does not count, and the message says what to do', async () => {
  const { redis, key, place, run } = await scene(['a'], 'head -c 200000 /dev/urandom > x')
  const running = run('--attempts', '2')
  startFarWorker(redis, key, '--most-kib', '64')
  expect((await running).code).toBe(1)
  const [line] = place.lines('results.jsonl')
  expect(line).toMatchObject({ id: 'a', outcome: 'infrastructure', attempts: 2, patch: null })
  expect(line?.['error']).toContain(
    "larger than the 64 KiB that may be sent through Redis; let the workers share the batch's folder (--store DIR)",
  )
})

test('a result that cannot be delivered by the deadline does not count, and the next attempt succeeds', async () => {
  const { redis, key, place, run } = await scene(['a'], 'sleep 3; head -c 2000000 /dev/urandom > x')
  const running = run()
  // The lock must last longer than the delay, because a run whose lock isn't renewed is stopped.
  const worker = startFarWorker(redis, key, '--hand-in-seconds', '2', '--lock-seconds', '20')
  await until(runs(place, 'a'))
  redis.cli('config', 'set', 'maxmemory', '1')
  await until(() => worker.said().includes('could not be delivered within 2 s'))
  redis.cli('config', 'set', 'maxmemory', '0')
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  const late = JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8')) as object
  expect(late).toMatchObject({ outcome: 'infrastructure', error: expect.stringContaining('within 2 s') as string })
})

test('a result that was changed in Redis does not count, and the next attempt succeeds', async () => {
  const { redis, key, place, run } = await scene(['a'], 'sleep 2; echo x > x')
  const running = run()
  startFarWorker(redis, key, '--lock-seconds', '60')
  await until(runs(place, 'a'))
  const pid = supervisorOf(place.out)?.pid ?? 0
  // The coordinator is stopped, so that it doesn't take the result before the result is changed.
  process.kill(pid, 'SIGSTOP')
  await until(() => redis.cli('--scan', '--pattern', 'portcullis:store:*:results').trim() !== '')
  const object = redis.cli('--scan', '--pattern', 'portcullis:store:*:object:*').trim()
  redis.cli('hset', object, '0', 'x'.repeat(1000))
  process.kill(pid, 'SIGCONT')
  expect((await running).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', attempts: 2 }])
  const changed = JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8')) as object
  const error = expect.stringContaining('was changed on its way through Redis: part 1 of 1') as string
  expect(changed).toMatchObject({ outcome: 'infrastructure', error })
})

test('a worker with another key, with none, or with both a key and a folder gets an error at its start', async () => {
  const { redis, place, run } = await scene(['a'], 'true')
  const running = run()
  await until(() => redis.cli('--scan', '--pattern', 'portcullis:store:announced').trim() !== '')
  const worker = ['worker', '--queue', redis.url]
  const told = async (key: string, ...more: readonly string[]) => {
    const { code, stderr } = await place.run([...worker, ...more], { env: { PORTCULLIS_BATCH_KEY: key } })
    return [code, stderr]
  }
  const says = (text: string): readonly unknown[] => [2, expect.stringContaining(text)]
  expect(await told(makeBatchKey())).toEqual(says('no batch in this Redis uses this key; 1 uses a different key'))
  expect(await told('')).toEqual(says('Neither --store nor PORTCULLIS_BATCH_KEY'))
  expect(await told(makeBatchKey(), '--store', 'out')).toEqual(says('Both --store and PORTCULLIS_BATCH_KEY'))
  expect(await told('short')).toEqual(says('expected the 43 characters that agent batch key prints'))
  const { code, stdout } = await place.run(['key'])
  expect([code, new BatchKey(stdout.trim()).id]).toEqual([0, expect.stringMatching(/^[0-9a-f]{24}$/)])
  process.kill(supervisorOf(place.out)?.pid ?? 0, 'SIGINT')
  expect((await running).code).toBe(130)
})

test('sealed data can be opened only with its key and in its place: not if it was cut, changed, moved or mixed', async () => {
  const redis = await startRedis()
  const carrier = await connectCarrier(redis.url)
  onTestFinished(carrier.close)
  const key = new BatchKey(makeBatchKey())
  const store = new SealedStore(carrier, key, 'f'.repeat(64))
  const name = `portcullis:store:${key.id}:${'f'.repeat(16)}:object`
  const [bytes, other] = [randomBytes(600_000), randomBytes(600_000)]
  const most = 1_000_000
  const write = () => store.put('object', bytes)
  await write()
  expect((await store.read('object', most)).equals(bytes)).toBe(true)
  const raw = async (part: number) => (await carrier.redis.callBuffer('hget', name, part)) as Buffer
  const [first, second] = [await raw(0), await raw(1)]
  await carrier.redis.call('hset', name, 0, second, 1, first)
  await expect(store.read('object', most)).rejects.toThrow(NotAuthentic)
  await write()
  const changed = Buffer.from(second)
  changed.writeUInt8(changed.readUInt8(50) ^ 1, 50)
  await carrier.redis.call('hset', name, 1, changed)
  await expect(store.read('object', most)).rejects.toThrow(NotAuthentic)
  await write()
  await carrier.redis.call('hdel', name, 2)
  await expect(store.read('object', most)).rejects.toThrow(NotAuthentic)
  await write()
  await carrier.redis.call('hdel', name, 1)
  await carrier.redis.call('hset', name, 7, second)
  await expect(store.read('object', most)).rejects.toThrow(NotWhole)
  await store.put('other', other)
  await carrier.redis.call('rename', name.replace(':object', ':other'), name)
  await expect(store.read('object', most)).rejects.toThrow(NotAuthentic)
  await expect(store.read('gone', most)).rejects.toThrow(NotWhole)
  await write()
  const otherKey = new SealedStore(carrier, new BatchKey(makeBatchKey()), 'f'.repeat(64))
  await expect(otherKey.read('object', most)).rejects.toThrow(NotWhole)
  await expect(store.read('object', 10_000)).rejects.toThrow(NotWhole)
  await store.set('wishes', 'a', { max_cost: 1 })
  await store.set('wishes', 'b', { max_cost: 9 })
  const table = name.replace(':object', ':wishes')
  await carrier.redis.call('hset', table, 'a', String(await carrier.redis.call('hget', table, 'b')))
  await expect(store.get('wishes', 'a')).rejects.toThrow(NotAuthentic)
  expect(Number(await carrier.redis.call('pttl', name))).toBeGreaterThan(0)
  expect(Number(await carrier.redis.call('pttl', table))).toBeGreaterThan(0)
})
