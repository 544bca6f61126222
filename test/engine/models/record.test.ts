import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { HistoryItem, Model, ModelEvent } from '../../../engine/core/model.ts'
import { openModel, recordModel } from '../../../engine/models/index.ts'
import { generalize } from '../../../engine/models/record.ts'
import { compareOutput } from '../../../engine/models/replay-match.ts'
import { call, freeform, say, startMockOpenAI, think } from '../../support/mock-openai.ts'
import type { Reply } from '../../support/mock-openai.ts'
import { collectFinished, request, temporaryFolder } from './conversation.ts'
import { tries } from '../../support/tries.ts'

/** A small run loop: `tool` answers calls until the model makes no more calls. */
async function converse(model: Model, tool: (name: string, input: string) => string): Promise<ModelEvent[][]> {
  const history: HistoryItem[] = [{ type: 'message', role: 'user', text: 'go' }]
  const turns: ModelEvent[][] = []
  for (;;) {
    const all = await collectFinished(model, request({ history }))
    const events = all.slice(all.findLastIndex((event) => event.type === 'retry') + 1)
    turns.push(events)
    const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
    if (calls.length === 0) return turns
    history.push(...calls.map((call): HistoryItem => ({ type: 'tool_call', call })))
    history.push(
      ...calls.map(({ id, name, input }): HistoryItem => ({
        type: 'tool_result',
        callId: id,
        output: tool(name, input),
        ok: true,
      })),
    )
  }
}

const replies = (cwd: string): Reply[] => [
  { say: [say('voided by the cut')], end: { type: 'missing' } },
  [think('Plan.'), say('Looking.'), call('exec_command', { cmd: `ls ${cwd}` }), call('exec_command', 'not json')],
  [freeform('apply_patch', '*** Begin Patch\n*** End Patch\n')],
  { say: [say('Done.\nReally.')], usage: { input: 10, output: 3 } },
]

async function record(cwd: string, file: string): Promise<ModelEvent[][]> {
  const mock = await startMockOpenAI({ replies: replies(cwd) })
  onTestFinished(() => mock.close())
  const live = await openModel('gpt-5.5', {
    env: { OPENAI_API_KEY: 'k' },
    cwd,
    openaiBaseUrl: mock.baseUrl,
    retryBaseMs: 1,
  })
  return converse(await recordModel(live, file, cwd), () => `in ${cwd} for 0.0123 seconds\nall of it\n`)
}

test('a recorded run replays in another folder at another speed', async () => {
  const [first, other] = [await temporaryFolder(), await temporaryFolder()]
  const file = join(first, 'run.jsonl')
  const said = await record(first, file)
  const replayed = await openModel(`replay:${file}`, { env: {}, cwd: other })
  const again = await converse(replayed, () => `in ${other} for 7.5 seconds\nall of it\n`)
  const here = JSON.parse(JSON.stringify(said).replaceAll(first, other)) as ModelEvent[][]
  expect(again).toEqual(
    here.map((turn) =>
      turn.map((event) => (event.type === 'reasoning' ? { type: 'reasoning', text: event.text } : event)),
    ),
  )
})

test('a replay detects a different result', async () => {
  const cwd = await temporaryFolder()
  const file = join(cwd, 'run.jsonl')
  await record(cwd, file)
  const replayed = await openModel(`replay:${file}`, { env: {}, cwd })
  await expect(converse(replayed, () => 'something else')).rejects.toMatchObject({ code: 'replay' })
})

test('a recording reads well', async () => {
  const cwd = await temporaryFolder()
  const file = join(cwd, 'run.jsonl')
  await record(cwd, file)
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  const result = { ok: true, output: ['in <<cwd>> for <<duration>>', 'all of it', ''] }
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { portcullis_replay: 1, model: 'gpt-5.5' },
    {
      events: [
        { type: 'reasoning', text: 'Plan.' },
        { type: 'message', text: 'Looking.' },
        { type: 'tool_call', id: 'call_1_2', name: 'exec_command', arguments: { cmd: 'ls <<cwd>>' } },
        { type: 'tool_call', id: 'call_1_3', name: 'exec_command', arguments: 'not json' },
      ],
    },
    { expect: [result, result], events: [{ name: 'apply_patch', input: ['*** Begin Patch', '*** End Patch', ''] }] },
    {
      expect: [result],
      events: [{ type: 'message', text: ['Done.', 'Really.'] }],
      usage: { input_tokens: 10, output_tokens: 3 },
    },
  ])
})

test('a recording is never overwritten', async () => {
  const cwd = await temporaryFolder()
  const file = join(cwd, 'run.jsonl')
  await record(cwd, file)
  const before = await readFile(file, 'utf8')
  await expect(record(cwd, file)).rejects.toMatchObject({ code: 'configuration' })
  expect(await readFile(file, 'utf8')).toBe(before)
})

test.each([
  ['at /work/repo/src/a.ts:3', 'at <<cwd>>/src/a.ts:3'],
  ['(/tmp/x-1/y.js:3:4)', '(<<tmp>>:3:4)'],
  ['src/tmp/a and ./tmp/b', 'src/tmp/a and ./tmp/b'],
  ['Wall time: 0.0132 seconds', 'Wall time: <<duration>>'],
  ['# duration_ms 45.1', '# duration_ms <<number>>'],
  ['ok 1 - adds (12ms)', 'ok 1 - adds (<<duration>>)'],
  ['Chunk ID: dc2535', 'Chunk ID: <<hash>>'],
  ['3 sheep, 12 msgs', '3 sheep, 12 msgs'],
])('%s is recorded as %s', (output, recorded) => {
  expect(generalize(output, '/work/repo')).toBe(recorded)
})

test('whatever a tool prints, its recording matches it', () => {
  const cwd = '/work/repo'
  const words = [
    '/tmp/x-1',
    '/work/repo',
    '12ms',
    '0.5 seconds',
    'duration_ms 3.2',
    'Chunk ID: ab12',
    '<<number>>',
    '<<lines>>',
    '<<',
  ]
  const piece = fc.oneof(
    fc.constantFrom(...words, '\n', ' ', ':', '>>', '\r', '\u001b[1m'),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const output = pieces.join('')
      expect(compareOutput(output, output, cwd)).toBeUndefined()
      expect(compareOutput(generalize(output, cwd), output, cwd)).toBeUndefined()
    }),
    { numRuns: tries(2000) },
  )
})
