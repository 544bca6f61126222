import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { batchPlace, committed, tasksFile } from '../../support/batch.ts'
import { call, startMockOpenAI } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Command-line arguments for a model that runs one command per request and costs a dollar per request. */
function pricedModel(...commands: readonly string[]): readonly string[] {
  const usage = { input_tokens: 1000, output_tokens: 0 }
  const calls = commands.map((cmd) => ({
    events: [{ type: 'tool_call', name: 'exec_command', arguments: { cmd, yield_time_ms: 60_000 } }],
    usage,
  }))
  const lines = [{ portcullis_replay: 1 }, ...calls, { events: [{ type: 'message', text: 'Done.' }], usage }]
  const folder = tempDir({ 'recording.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') })
  const model = `replay:${join(folder, 'recording.jsonl')}`
  return ['-m', model, '-c', `model_prices={"${model}"={input=1000,output=1000}}`]
}

test('the cost of a superseded attempt counts in all totals, even if it becomes known after its trial was settled', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  expect((await place.run(['run', 'tasks.jsonl', '-o', 'out', ...pricedModel()])).code).toBe(0)
  const first = join(place.out, 'runs/a/1')
  const record = JSON.parse(readFileSync(join(first, 'result.json'), 'utf8')) as Record<string, unknown>
  expect(record).toMatchObject({ cost_usd: 1 })
  // The second attempt was considered lost, but its worker finished the run.
  const second = join(place.out, 'runs/a/2')
  mkdirSync(second)
  const { cost_usd: _, ...lost } = record
  writeFileSync(join(second, 'result.json'), JSON.stringify({ ...lost, attempt: 2, outcome: 'lost' }))
  writeFileSync(join(second, 'superseded.json'), JSON.stringify({ ...record, attempt: 2, cost_usd: 3 }))
  expect((await place.run(['report', 'out'])).stdout).toContain('$4')
  expect(place.lines('results.jsonl')).toMatchObject([{ id: 'a', cost_usd: 4 }])
  expect(place.json('summary.json')).toMatchObject({ attempts: 2, cost_usd: 4 })
  const status = JSON.parse((await place.run(['status', 'out', '--json'])).stdout) as object
  expect(status).toMatchObject({ summary: { cost_usd: 4 } })
  const [row] = JSON.parse(`[${(await place.run(['report', 'out', '--format', 'json'])).stdout}]`) as object[]
  expect(row).toMatchObject({ models: [{ costUsd: 4 }] })
  expect((await place.run(['merge', 'out', '-o', 'merged'])).code).toBe(0)
  const merged = JSON.parse(readFileSync(join(place.folder, 'merged/summary.json'), 'utf8')) as object
  expect(merged).toMatchObject({ attempts: 2, cost_usd: 4 })
  const result = JSON.parse(readFileSync(join(place.folder, 'merged/runs/a/1/result.json'), 'utf8')) as object
  expect(result).toMatchObject({ attempt: 1, outcome: 'done' })
})

test('the possible cost of a lost run also counts against --max-cost at the next start', async () => {
  const place = batchPlace({ 'tasks.jsonl': tasksFile(['a']) })
  const model = pricedModel('sleep 30')
  const words = ['run', 'tasks.jsonl', '-o', 'out', '--max-cost', '500', '--max-cost-per-run', '400', ...model]
  let supervisor = 0
  const first = place.run(words, { onStart: (child) => (supervisor = child.pid ?? 0) })
  const status = join(place.out, 'status.json')
  while (!existsSync(status) || !readFileSync(status, 'utf8').includes('sleep')) await sleep(50)
  const run = JSON.parse(readFileSync(join(place.out, 'runs/a/1/process.json'), 'utf8')) as { readonly pid: number }
  // The run is stopped first. Otherwise it would end by itself when its supervisor disappears, and its cost would be known.
  process.kill(run.pid, 'SIGSTOP')
  process.kill(supervisor, 'SIGKILL')
  process.kill(run.pid, 'SIGKILL')
  await first
  const again = await place.run(words)
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('--max-cost') as string])
  expect(JSON.parse(readFileSync(join(place.out, 'runs/a/1/result.json'), 'utf8'))).toMatchObject({
    outcome: 'lost',
    reserved_usd: 400,
  })
})

test('what a sub-agent of a run spent counts, though the run is killed before its own next answer', async () => {
  const asked = (body: unknown): string => JSON.stringify(body)
  const mock = await startMockOpenAI({
    replies: ({ body }) => ({
      say: asked(body).includes('the work in parts')
        ? [call('agent', { title: 'a part', prompt: 'this part alone' })]
        : [call('exec_command', { cmd: asked(body).includes('first') ? 'sleep 60' : 'echo first' })],
      usage: { input: 1000 },
    }),
  })
  onTestFinished(() => mock.close())
  const task = { id: 'a', prompt: 'the work in parts', repo: committed() }
  const place = batchPlace({ 'tasks.jsonl': JSON.stringify(task) }, { OPENAI_API_KEY: 'sk-test-key' })
  const prices = 'model_prices={"gpt-5.5"={input=1000,output=0}}'
  const words = ['run', 'tasks.jsonl', '-o', 'out', '-m', 'gpt-5.5', '-c', `openai_base_url="${mock.baseUrl}"`]
  const running = place.run([...words, '-c', prices, '--retry-seconds', '600'])
  const path = join(place.out, 'runs/a/1')
  const read = (file: string): string => readFileSync(file, 'utf8')
  const rollouts = (): readonly string[] =>
    globSync('state/portcullis/sessions/*/rollout.jsonl', { cwd: path }).map((name) => read(join(path, name)))
  // Waits until the sub-agent is at its second command and the run's own conversation contains the cost of the sub-agent's answers.
  while (!rollouts().some((text) => text.split('"cost_usd":1').length === 4)) await sleep(50)
  process.kill((JSON.parse(read(join(path, 'process.json'))) as { readonly pid: number }).pid, 'SIGKILL')
  while (!existsSync(join(path, 'result.json'))) await sleep(50)
  expect(mock.requests).toHaveLength(3)
  expect(JSON.parse(read(join(path, 'result.json')))).toMatchObject({ outcome: 'lost', cost_usd: 3 })
  await place.run(['cancel', 'out'])
  expect((await running).code).toBe(130)
  expect(place.json('summary.json')).toMatchObject({ cost_usd: 3 })
})
