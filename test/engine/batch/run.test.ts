import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { BatchFolder } from '../../../engine/batch/folder/batch-folder.ts'
import { predictionsOf } from '../../../engine/batch/derived/predictions.ts'
import type { TrialResult } from '../../../engine/batch/derived/results.ts'
import {
  batchPlace,
  committed,
  dearModel,
  expectWhole,
  recordingOf,
  tasksFile,
  type BatchPlace,
} from '../../support/batch.ts'
import { say, startMockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'

const outcomesOf = (place: BatchPlace) =>
  place.lines('results.jsonl').map(({ id, outcome, attempts }) => [id, outcome, attempts])

/** Starts a model on loopback, and returns the command-line arguments for it. */
async function mockModel(replies: (index: number) => Reply): Promise<readonly string[]> {
  const mock = await startMockOpenAI({ replies: (_, index) => replies(index) })
  onTestFinished(() => mock.close())
  return ['-m', 'gpt-5.5', '-c', `openai_base_url="${mock.baseUrl}"`]
}
const key = { env: { OPENAI_API_KEY: 'sk-test-key' } }

test('each run of a batch works on its own view of the repository, and its changes are a patch', async () => {
  const repository = committed({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['first', 'second'], repository) })
  const ended = await place.run([
    ...['run', 'tasks.jsonl', '-o', 'out', '-w', '2'],
    ...['-m', recordingOf('git log --format=%s; echo more >> a.txt; rm b.txt')],
  ])
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 settled · 2 done') as string })
  expect(outcomesOf(place)).toEqual([
    ['first', 'done', 1],
    ['second', 'done', 1],
  ])
  expect(execFileSync('git', ['-C', repository, 'status', '--porcelain']).toString()).toBe('')
  const clone = committed({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  execFileSync('git', ['-C', clone, 'apply', '--binary', join(place.out, 'runs/first/1/changes.patch')])
  expect([readFileSync(join(clone, 'a.txt'), 'utf8'), existsSync(join(clone, 'b.txt'))]).toEqual(['one\nmore\n', false])
  expect(place.json('summary.json')).toMatchObject({ trials: 2, settled: 2, answers: 2, outcomes: { done: 2 } })
  expect(Object.keys(place.json('preds.json'))).toEqual(['first', 'second'])
  expect(readFileSync(join(place.out, 'junit.xml'), 'utf8')).toContain('tests="2" failures="0" errors="0" skipped="0"')
  expect(readFileSync(join(place.out, 'report.html'), 'utf8')).toContain('runs/first/1/report.html')
  expect(existsSync(join(place.out, 'runs/first/1/report.html'))).toBe(true)
})

test("the commands on a run's page work in the folder of the page", async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['first'], committed({ 'a.txt': 'one\n' })) })
  await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo more >> a.txt')])
  const folder = join(place.out, 'runs/first/1')
  const page = readFileSync(join(folder, 'report.html'), 'utf8')
  const commands = [...page.matchAll(/<div class="command">\s*<pre><code>([^<]*)</g)].map(([, text = '']) =>
    text.replaceAll('&quot;', '"').replaceAll('&#34;', '"'),
  )
  const clone = committed({ 'a.txt': 'one\n' })
  const bin = join(import.meta.dirname, '../../../dist/bin/agent.js')
  const outputs = commands.map((command) =>
    execFileSync(
      'sh',
      ['-ec', `agent() { '${process.execPath}' '${bin}' "$@"; }; ${command.replace('REPOSITORY', clone)}`],
      {
        cwd: folder,
      },
    ).toString(),
  )
  expect(commands[0]).toBe('git -C REPOSITORY apply --binary "$PWD/changes.patch"')
  expect(readFileSync(join(clone, 'a.txt'), 'utf8')).toBe('one\nmore\n')
  expect(outputs[1]).toContain('echo more')
  expect(outputs[2]).toContain('intact')
  expect(page).not.toContain('state/portcullis/sessions')
})

test('a run sees the history of its own commit, and nothing that came later', async () => {
  const repository = committed({ 'a.txt': 'one\n' })
  const first = execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD']).toString().trim()
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  execFileSync('git', ['-C', repository, ...identity, 'commit', '-q', '--allow-empty', '-m', 'the solution'])
  execFileSync('git', ['-C', repository, 'tag', 'v2'])
  const task = { id: 'a', prompt: 'x', repo: repository, ref: first }
  const place = batchPlace({ 'tasks.jsonl': JSON.stringify(task) })
  const look = 'git log --all --format=%s > log.txt; git tag >> log.txt; git branch -a >> log.txt'
  expect((await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf(look)])).code).toBe(0)
  const patch = readFileSync(join(place.out, 'runs/a/1/changes.patch'), 'utf8')
  expect(patch).toContain('+first')
  expect(patch).not.toMatch(/solution|v2|origin/)
})

test('a second start only does what is missing, and the derived files can be written again', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x')]
  await place.run(words)
  const before = place.lines('results.jsonl')
  const begun = (): number => place.lines('journal.jsonl').filter(({ type }) => type === 'attempt-started').length
  expect(begun()).toBe(2)
  expect((await place.run(words)).code).toBe(0)
  expect(begun()).toBe(2)
  execFileSync(
    'rm',
    ['results.jsonl', 'summary.json', 'report.html'].map((name) => join(place.out, name)),
  )
  expect((await place.run(['report', 'out'])).code).toBe(0)
  expect(place.lines('results.jsonl')).toEqual(before)
})

test('a folder that contains another batch, or other files, is refused', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']), 'other/file': 'x' })
  const model = recordingOf('true')
  await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', model])
  const other = await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', model, '--repeat', '2'])
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('contains another batch, which differs in --repeat') as string,
  ])
  const filled = await place.run(['run', 'tasks.jsonl', '-o', 'other', '-m', model])
  expect([filled.code, filled.stderr]).toEqual([
    2,
    expect.stringContaining("contains files that don't belong to a batch (file)") as string,
  ])
})

test('a missing model stops the batch before it starts, and --dry-run finds it', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  for (const more of [['--dry-run'], []]) {
    const ended = await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', 'replay:/nowhere.jsonl', ...more])
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('/nowhere.jsonl') as string])
  }
  expect(existsSync(join(place.out, 'runs/a'))).toBe(false)
})

test('--dry-run checks that each repository has its ref', async () => {
  const task = { id: 'a', prompt: 'x', repo: committed(), ref: 'nowhere' }
  const place = batchPlace({ 'tasks.jsonl': JSON.stringify(task) })
  const ended = await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('true'), '--dry-run'])
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('has no commit nowhere') as string])
})

test('a run with an answer is never repeated; a run in which the provider failed is, up to --attempts, and then counts as no answer', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const failure = { status: 400, body: { error: { message: 'no', type: 'invalid_request_error', code: 'model_gone' } } }
  let works = false
  const model = await mockModel(() => (works ? [say('done')] : failure))
  const words = ['run', 'tasks.jsonl', '-o', 'out', ...model, '--attempts', '2', '--retry-seconds', '0.01']
  expect((await place.run([...words, '--fail-on-no-change'], key)).code).toBe(6)
  expect(outcomesOf(place)).toEqual([['a', 'provider', 2]])
  expect(place.json('summary.json')).toMatchObject({ settled: 1, answers: 0 })
  works = true
  expect((await place.run([...words, '--fail-on-no-change'], key)).code).toBe(6)
  expect((await place.run(['retry', 'out', '--where', 'outcome=provider'])).stdout).toContain(
    '1 run is open again. To repeat it, run',
  )
  expect((await place.run([...words, '--fail-on-no-change'], key)).code).toBe(1)
  expect(outcomesOf(place)).toEqual([['a', 'failed', 3]])
  expect((await place.run([...words, '--fail-on-no-change'], key)).code).toBe(1)
  expect(outcomesOf(place)).toEqual([['a', 'failed', 3]])
})

/** Waits until an attempt runs a command and its log contains the cost of its first request, and returns the attempt's process id. */
async function commandOf(place: BatchPlace, trial: string, attempt = 1): Promise<number> {
  const path = join(place.out, 'runs', trial, String(attempt), 'process.json')
  for (;;) {
    const status = existsSync(join(place.out, 'status.json'))
      ? readFileSync(join(place.out, 'status.json'), 'utf8')
      : ''
    const logs = globSync('state/portcullis/sessions/*/events.jsonl', { cwd: dirname(path) })
    const isPaid = logs.some((log) => readFileSync(join(dirname(path), log), 'utf8').includes('"spent"'))
    if (existsSync(path) && isPaid && status.includes('sleep'))
      return (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid
    await sleep(50)
  }
}

test('a run whose process is killed is started again; a second loss settles it as lost', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  const words = [
    ...['run', 'tasks.jsonl', '-o', 'out', '-w', '1', '--retry-seconds', '0.01'],
    ...dearModel('sleep 2; echo x > x'),
  ]
  const running = place.run(words)
  process.kill(await commandOf(place, 'a'), 'SIGKILL')
  // The other task runs meanwhile, and is not affected.
  while (!existsSync(join(place.out, 'runs/a/2/process.json'))) await sleep(50)
  process.kill(await commandOf(place, 'a', 2), 'SIGKILL')
  expect((await running).code).toBe(1)
  expect(outcomesOf(place)).toEqual([
    ['a', 'lost', 2],
    ['b', 'done', 1],
  ])
  expect(existsSync(join(place.out, 'runs/a/3'))).toBe(false)
  expect(place.json('summary.json')).toMatchObject({ cost_usd: 4 })
  await expectWhole(place, words)
})

test('when a supervisor is killed, its runs end too, and the next start does what is missing', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', ...dearModel('sleep 3; echo x > x')]
  let supervisor: number | undefined
  const first = place.run(words, { onStart: (child) => (supervisor = child.pid) })
  const run = await commandOf(place, 'a')
  process.kill(supervisor ?? 0, 'SIGKILL')
  expect((await first).signal).toBe('SIGKILL')
  expect((await place.run(words)).code).toBe(0)
  expect(() => process.kill(run, 0)).toThrow('ESRCH')
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 2],
    ['b', 'done', 1],
  ])
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({
    outcome: 'interrupted',
  })
  expect(place.json('summary.json')).toMatchObject({ cost_usd: 5 })
  await expectWhole(place, words)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends runs in order, with exit code %i, and leaves them open', async (signal, expected) => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('sleep 3; echo x > x')]
  let supervisor: number | undefined
  const first = place.run(words, { onStart: (child) => (supervisor = child.pid) })
  await commandOf(place, 'a')
  process.kill(supervisor ?? 0, signal)
  expect((await first).code).toBe(expected)
  expect(place.json('summary.json')).toMatchObject({ settled: 0, attempts: 1 })
  expect((await place.run(words)).code).toBe(0)
  expect(outcomesOf(place)).toEqual([['a', 'done', 2]])
})

test('a batch whose summary of the step cannot be written has run all the same, and its exit code says that something failed', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']), 'step/summary.md': '' })
  const step = join(place.folder, 'step')
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('sleep 1; echo x > x')]
  const running = place.run(words, { env: { GITHUB_STEP_SUMMARY: join(step, 'summary.md') } })
  await commandOf(place, 'a')
  renameSync(step, `${step}-moved`)
  const { code, stdout, stderr } = await running
  expect(code).toBe(1)
  expect(stderr).toContain("step/summary.md: the step's summary can't be written")
  expect(stdout).toContain('1 of 1 settled · 1 done')
})

test('a batch can be paused, inspected, resumed and cancelled from elsewhere, and has one supervisor', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b', 'c']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-w', '1', '-m', recordingOf('sleep 2; echo x > x')]
  const running = place.run(words)
  await commandOf(place, 'a')
  expect((await place.run(['pause', 'out'])).stdout).toContain('paused')
  expect((await place.run(words)).stderr).toContain('is supervised by process')
  while (!existsSync(join(place.out, 'runs/a/settled.json'))) await sleep(50)
  await sleep(1500)
  expect(existsSync(join(place.out, 'runs/b'))).toBe(false)
  expect((await place.run(['status', 'out'])).stdout).toContain('1 of 3 settled, 1 with an answer; paused: asked')
  await place.run(['resume', 'out'])
  while (!existsSync(join(place.out, 'runs/b/1/process.json'))) await sleep(50)
  await place.run(['cancel', 'out'])
  expect((await running).code).toBe(130)
  const status = JSON.parse((await place.run(['status', 'out', '--json'])).stdout) as object
  expect(status).toMatchObject({ supervised: false, summary: { settled: 1, outcomes: { done: 1 } } })
})

test('a run whose --verify succeeds is verified', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', recordingOf('echo x > x'), '--verify', 'grep x x']
  expect((await place.run(words)).code).toBe(0)
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', outcome: 'done', verified: true, verdict: 'kept' }])
})

test('two models, each twice, are four trials of a task', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const [one, other] = [recordingOf('echo 1 > x'), recordingOf('echo 2 > x')]
  const ended = await place.run(['run', 'tasks.jsonl', '-o', 'out', '-m', `${one},${other}`, '--repeat', '2'])
  expect(ended.code).toBe(0)
  expect(place.lines('results.jsonl').map(({ model, repeat }) => [model, repeat])).toEqual([
    [one, 1],
    [other, 1],
    [one, 2],
    [other, 2],
  ])
})

test('a repository that cannot be cloned counts as no answer, and the other runs continue', async () => {
  const lines = [
    { id: 'gone', prompt: 'x', repo: 'file:///nowhere/at-all.git' },
    { id: 'there', prompt: 'x', repo: committed() },
  ]
  const place = batchPlace({ 'tasks.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') })
  const words = ['run', 'tasks.jsonl', '-o', 'out', '--retry-seconds', '0.01', '-m', recordingOf('echo x > x')]
  expect((await place.run(words)).code).toBe(1)
  expect(outcomesOf(place)).toEqual([
    ['gone', 'infrastructure', 3],
    ['there', 'done', 1],
  ])
})

test('an attempt that never ended stays apart from those of another folder when the folders are merged', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const words = ['run', 'tasks.jsonl', '-m', recordingOf('echo x > x')]
  for (const name of ['killed', 'ended']) expect((await place.run([...words, '-o', name])).code).toBe(0)
  const killed = join(place.folder, 'killed/runs/a')
  rmSync(join(killed, '1/result.json'))
  rmSync(join(killed, 'settled.json'), { force: true })
  writeFileSync(join(killed, '1/only-here'), '')
  expect((await place.run(['merge', 'killed', 'ended', '-o', 'out'])).code).toBe(0)
  expect([1, 2].map((attempt) => existsSync(join(place.out, `runs/a/${attempt}/only-here`)))).toEqual([true, false])
  expect([1, 2].map((attempt) => existsSync(join(place.out, `runs/a/${attempt}/result.json`)))).toEqual([false, true])
})

test('models whose names become the same name of a file have predictions of their own', () => {
  const folder = { path: tempDir(), manifest: { models: ['a/b', 'a-b'], repeat: 1 } } as unknown as BatchFolder
  const results = ['a/b', 'a-b'].map(
    (model) => ({ trial: { task: 't', repeat: 1, model }, settled: { outcome: 'done' } }) as unknown as TrialResult,
  )
  expect(predictionsOf(folder, results).map(({ name, model }) => [name, model])).toEqual([
    ['preds.a-b.json', 'a/b'],
    ['preds.a-b-2.json', 'a-b'],
  ])
})

test('each shard runs a part of a batch, and their folders can be merged', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a', 'b', 'c']) })
  const words = ['run', 'tasks.jsonl', '-m', recordingOf('echo x > x')]
  for (const index of [0, 1]) {
    expect((await place.run([...words, '-o', `part-${index}`, '--shard', `${index}/2`])).code).toBe(0)
  }
  expect((await place.run(['merge', 'part-0', 'part-1', 'part-0', '-o', 'out'])).stdout).toContain('3 of 3 settled')
  expect(outcomesOf(place)).toEqual([
    ['a', 'done', 1],
    ['b', 'done', 1],
    ['c', 'done', 1],
  ])
  const [first] = place.lines('results.jsonl')
  expect(readFileSync(join(place.out, String(first?.['patch'])), 'utf8')).toContain('+x')
  // The merged result is complete, so nothing is run again.
  expect((await place.run([...words, '-o', 'out'])).code).toBe(0)
  expect(place.json('summary.json')).toMatchObject({ trials: 3, settled: 3, attempts: 5 })
  const predictions = JSON.parse((await place.run(['export', 'out', '--swebench'])).stdout) as object
  expect(Object.keys(predictions)).toEqual(['a', 'b', 'c'])
  const wrong = await place.run([...words, '-o', 'part-2', '--shard', '2/2'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('0/4 to 3/4') as string])
})
