import { existsSync, readFileSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Ended } from '../../support/agent.ts'
import { batchPlace, dearModel, expectWhole, tasksFile, type BatchPlace } from '../../support/batch.ts'

const words = (...commands: readonly string[]): readonly string[] => [
  ...['run', 'tasks.jsonl', '-o', 'out', '-w', '1', '--retry-seconds', '0.01'],
  ...dearModel(...commands),
]

/** Starts a batch, and waits until its first run executes a command. */
async function startBatch(
  place: BatchPlace,
  wanted: readonly string[],
): Promise<{ readonly pid: number; readonly run: number; readonly ended: Promise<Ended> }> {
  let pid = 0
  const ended = place.run(wanted, { onStart: (child) => (pid = child.pid ?? 0) })
  // Tests may stop this process with a signal. It has to be continued after a test that fails, or it would never end.
  onTestFinished(() => goOn(pid))
  const status = join(place.out, 'status.json')
  while (!existsSync(status) || !readFileSync(status, 'utf8').includes('sleep')) await sleep(50)
  const file = readFileSync(join(place.out, 'runs/a/1/process.json'), 'utf8')
  return { pid, run: (JSON.parse(file) as { pid: number }).pid, ended }
}

function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It has ended.
  }
}

function change(file: string, fields: object): void {
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...fields }))
}

const outcomesOf = (place: BatchPlace) =>
  place.lines('results.jsonl').map(({ id, outcome, attempts }) => [id, outcome, attempts])

test('a stopped supervisor keeps its batch from another on this machine, and continues', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  const wanted = words('sleep 2; echo x > x')
  const { pid, ended } = await startBatch(place, wanted)
  process.kill(pid, 'SIGSTOP')
  expect((await place.run(wanted)).stderr).toContain('is supervised by process')
  process.kill(pid, 'SIGCONT')
  expect((await ended).code).toBe(0)
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
  ])
  await expectWhole(place, wanted)
})

test('a run that is stopped and continues is one attempt', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const wanted = words('sleep 2; echo x > x')
  const { run, ended } = await startBatch(place, wanted)
  process.kill(run, 'SIGSTOP')
  await sleep(3000)
  process.kill(run, 'SIGCONT')
  expect((await ended).code).toBe(0)
  expect(outcomesOf(place)).toEqual([['a', 'done', 1]])
  await expectWhole(place, wanted)
})

test('a supervisor that was stopped past its lease, and lost it to another machine, ends its runs and starts no others', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  const wanted = words('sleep 2; echo x > x')
  const first = await startBatch(place, wanted)
  process.kill(first.pid, 'SIGSTOP')
  // This is what another machine would see: it can't find the processes, and the lease has not been renewed for a long time.
  const own = readdirSync(place.out).find((name) => name.startsWith('supervisor-')) ?? ''
  // The fourth part of the name is the boot of the machine.
  const lease = join(place.out, own.split('.').with(3, '00000000').join('.'))
  change(join(place.out, own), { host: 'elsewhere' })
  renameSync(join(place.out, own), lease)
  change(join(place.out, 'runs/a/1/process.json'), { started: 'elsewhere' })
  utimesSync(lease, 0, 0)
  const second = place.run(wanted)
  while (!existsSync(join(place.out, 'runs/b/1/process.json'))) await sleep(50)
  process.kill(first.pid, 'SIGCONT')
  const [one, other] = await Promise.all([first.ended, second])
  expect([one.code, one.stderr]).toEqual([
    1,
    expect.stringContaining('Another process has taken over this batch') as string,
  ])
  expect(other.code).toBe(0)
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 2],
    ['b', 'done', 1],
  ])
  await expectWhole(place, wanted)
})

test('if two supervisors start a batch at once, one runs it', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  const wanted = words('sleep 1; echo x > x')
  const both = await Promise.all([place.run(wanted), place.run(wanted)])
  expect(both.map(({ code }) => code).toSorted()).toEqual([0, 2])
  expect(both.find(({ code }) => code === 2)?.stderr).toContain('is supervised by')
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
  ])
  await expectWhole(place, wanted)
})
