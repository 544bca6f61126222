import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batchPlace, dearModel, expectWhole, recordingOf, tasksFile, type BatchPlace } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis } from '../../support/redis.ts'

const testOnRedis = testUnlessOnCi(whyNoRedis())

/** The types of the records in the journal of a batch that runs two tasks one after the other. */
const writtenHere = [
  'batch-started',
  'attempt-started',
  'attempt-ended',
  'settled',
  'attempt-started',
  'attempt-ended',
  'settled',
  'batch-ended',
]
/** The types of the records in the journal of a batch on Redis. Both the coordinator and the worker record the beginning of an attempt. */
const writtenOnRedis = writtenHere.flatMap((type) => (type === 'attempt-started' ? [type, type] : [type]))

const numbered = (types: readonly string[]): readonly (readonly [number, string])[] =>
  types.map((type, at) => [at + 1, type])

/** Kills the supervisor of a batch as soon as its journal has this many lines, and starts another one, which continues the batch. */
async function killAtLine(place: BatchPlace, words: readonly string[], line: number): Promise<void> {
  const journal = join(place.out, 'journal.jsonl')
  const lines = (): number => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').length - 1 : 0)
  let pid = 0
  let isOver = false
  const first = place.run(words, { onStart: (child) => (pid = child.pid ?? 0) })
  void first.then(() => (isOver = true))
  while (!isOver && lines() < line) await setImmediate()
  if (!isOver) process.kill(pid, 'SIGKILL')
  await first
  expect((await place.run(words)).code).toBe(0)
  expect(place.lines('results.jsonl').map(({ id, outcome }) => [id, outcome])).toEqual([
    ['a', 'done'],
    ['b', 'done'],
  ])
  await expectWhole(place, words)
}

test.each(numbered(writtenHere))(
  'a supervisor that is killed at line %i of its journal (%s) leaves a folder that goes on',
  async (line) => {
    const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
    await killAtLine(place, ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('echo x > x')], line)
  },
)

testOnRedis.each(numbered(writtenOnRedis))(
  'a coordinator that is killed at line %i of its journal (%s) leaves a folder that goes on, with the worker that was there',
  async (line) => {
    const [redis, place] = [await startRedis(), batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })]
    const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('echo x > x'), '--queue', redis.url]
    const worker = startWorker(place, redis)
    await killAtLine(place, words, line)
    await worker
  },
)

test('a journal whose last line is torn is continued on a new line', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x')]
  await place.run(words)
  appendFileSync(join(place.out, 'journal.jsonl'), '{"at":"2026-01-01T00:00:00.000Z","type":"sett')
  expect((await place.run(words)).code).toBe(0)
  const text = readFileSync(join(place.out, 'journal.jsonl'), 'utf8').split('\n')
  const torn = text.findIndex((each) => each.endsWith('"sett'))
  expect(JSON.parse(text[torn + 1] ?? '')).toMatchObject({ type: 'batch-started' })
})
