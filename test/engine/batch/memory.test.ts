import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batchPlace, type BatchPlace } from '../../support/batch.ts'
import { tempDir } from '../../support/temp-dir.ts'

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

/** Runs the program, allocates a lot of memory when it exits, and returns the size of V8's young generation in MiB. */
async function youngMiB(place: BatchPlace, words: readonly string[]): Promise<number> {
  const start = `import { getHeapSpaceStatistics } from 'node:v8'
process.once('exit', () => {
  const kept = Array.from({ length: 2_000_000 }, (_, at) => ({ at }))
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  if (kept.length > 0) process.stdout.write('young ' + space.space_size)
})
await import(${JSON.stringify(program)})
`
  const folder = tempDir({ 'start.mjs': start })
  const { stdout } = await place.run(words, { program: join(folder, 'start.mjs') })
  return Number(/young (\d+)/.exec(stdout)?.[1]) / 2 ** 20
}

test('the supervisor and the workers of a batch keep the young generation small, but other commands do not', async () => {
  const place = batchPlace({})
  expect(await youngMiB(place, ['run', 'none.jsonl', '-o', 'out'])).toBeLessThanOrEqual(4)
  // A worker without a batch waits for one, unless its options are wrong.
  const worker = ['worker', '--queue', 'redis://127.0.0.1:1', '--store', 'out', '--labels', '?']
  expect(await youngMiB(place, worker)).toBeLessThanOrEqual(4)
  expect(await youngMiB(place, ['status', 'out'])).toBeGreaterThan(8)
})
