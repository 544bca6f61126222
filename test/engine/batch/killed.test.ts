import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batchPlace, recordingOf, tasksFile } from '../../support/batch.ts'

/** What a batch of two tasks, one after the other, writes into its journal. */
const written = [
  'batch-started',
  'attempt-started',
  'attempt-ended',
  'settled',
  'attempt-started',
  'attempt-ended',
  'settled',
  'batch-ended',
]

test.each(written.map((type, at) => [at + 1, type] as const))(
  'a supervisor that is killed at line %i of its journal (%s) leaves a folder that goes on',
  async (line) => {
    const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
    const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', '-m', recordingOf('echo x > x')]
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
    const results = place.lines('results.jsonl')
    expect(results.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a', 'done'],
      ['b', 'done'],
    ])
    // Each is settled once, though whoever settled it may have been killed before it said so.
    const settled = place.lines('journal.jsonl').flatMap(({ type, trial }) => (type === 'settled' ? [trial] : []))
    expect(new Set(settled).size).toBe(settled.length)
    // Nothing that was settled is run again.
    const before = place.lines('journal.jsonl').length
    expect((await place.run(words)).code).toBe(0)
    expect(
      place
        .lines('journal.jsonl')
        .slice(before)
        .map(({ type }) => type),
    ).toEqual(['batch-started', 'batch-ended'])
  },
)

test('a journal whose last line is torn is gone on with, in a line of its own', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x')]
  await place.run(words)
  const { appendFileSync } = await import('node:fs')
  appendFileSync(join(place.out, 'journal.jsonl'), '{"at":"2026-01-01T00:00:00.000Z","type":"sett')
  expect((await place.run(words)).code).toBe(0)
  const text = readFileSync(join(place.out, 'journal.jsonl'), 'utf8').split('\n')
  const torn = text.findIndex((each) => each.endsWith('"sett'))
  expect(JSON.parse(text[torn + 1] ?? '')).toMatchObject({ type: 'batch-started' })
})
