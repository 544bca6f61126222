import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HistoryItem, Model, ModelEvent } from '../../../engine/core/model.ts'
import { openModel } from '../../../engine/models/index.ts'
import { collect, collectFinished, noUsage, request, temporaryFolder } from './conversation.ts'

/** Writes a recording whose lines are the given texts, or the given values as JSON, and opens it as a model by a relative path. */
async function open(...lines: readonly unknown[]): Promise<Model> {
  const cwd = await temporaryFolder()
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  await writeFile(join(cwd, 'demo.jsonl'), `${texts.join('\n')}\n`)
  return openModel('replay:demo.jsonl', { env: {}, cwd })
}

const header = { portcullis_replay: 1 }
const lsCall = { type: 'tool_call', name: 'exec_command', arguments: { cmd: 'npm test' } }

/** Returns the conversation after a model's events, with each call answered by the next output. */
function answered(
  events: readonly ModelEvent[],
  ...outputs: readonly (string | { output: string; ok: boolean })[]
): HistoryItem[] {
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  const results = calls.map((call, at): HistoryItem => {
    const output = outputs[at] ?? ''
    return { type: 'tool_result', callId: call.id, ok: true, ...(typeof output === 'string' ? { output } : output) }
  })
  return [...calls.map((call): HistoryItem => ({ type: 'tool_call', call })), ...results]
}

/** Plays the first response, then asks for the second response with these results. */
async function second(model: Model, ...outputs: Parameters<typeof answered>[1][]): Promise<ModelEvent[]> {
  const history = answered(await collect(model), ...outputs)
  return collectFinished(model, request({ history }))
}

describe('what a recording says', () => {
  test('events arrive as written, with calls numbered through the file', async () => {
    const model = await open(
      { ...header, model: 'gpt-5.5', note: ['any', 'note'] },
      {
        events: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'message', text: ['two', 'lines'] },
          lsCall,
          { type: 'tool_call', name: 'apply_patch', input: ['*** Begin Patch', '*** End Patch'] },
        ],
        usage: { input_tokens: 5, output_tokens: 2 },
      },
      '',
      {
        events: [
          { ...lsCall, arguments: 'not json' },
          { ...lsCall, id: 'mine' },
        ],
      },
    )
    const first = await collect(model)
    expect(first).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text_delta', text: 'two\nlines' },
      { type: 'message', text: 'two\nlines' },
      {
        type: 'tool_call',
        call: { id: 'call_1', name: 'exec_command', kind: 'function', input: '{"cmd":"npm test"}' },
      },
      {
        type: 'tool_call',
        call: { id: 'call_2', name: 'apply_patch', kind: 'freeform', input: '*** Begin Patch\n*** End Patch' },
      },
      { type: 'end', usage: { ...noUsage, inputTokens: 5, outputTokens: 2 } },
    ])
    expect(await collect(model, request({ history: answered(first) }))).toEqual([
      { type: 'tool_call', call: { id: 'call_3', name: 'exec_command', kind: 'function', input: 'not json' } },
      { type: 'tool_call', call: { id: 'mine', name: 'exec_command', kind: 'function', input: '{"cmd":"npm test"}' } },
      { type: 'end', usage: noUsage },
    ])
  })

  test('the working directory replaces its placeholder in the recording', async () => {
    const cwd = await temporaryFolder()
    const events = [{ ...lsCall, arguments: { cmd: 'cat <<cwd>>/a' } }]
    await writeFile(join(cwd, 'r.jsonl'), `${JSON.stringify(header)}\n${JSON.stringify({ events })}\n`)
    const model = await openModel('replay:r.jsonl', { env: {}, cwd })
    expect(await collect(model)).toMatchObject([{ call: { input: `{"cmd":"cat ${cwd}/a"}` } }, { type: 'end' }])
  })

  test('a used-up recording is reported', async () => {
    const model = await open(header, { events: [] })
    await collect(model)
    await expect(collect(model)).rejects.toMatchObject({
      code: 'replay',
      message: 'demo.jsonl: the run requested more responses than the recording contains (1).',
    })
  })

  test('a resumed conversation continues after the last response that it contains', async () => {
    const lines = [
      header,
      { events: [lsCall] },
      { events: [{ type: 'message', text: 'half way' }] },
      { events: [lsCall] },
    ]
    const history: HistoryItem[] = answered(await collect(await open(...lines)), 'ok')
    expect(await collectFinished(await open(...lines), request({ history }))).toMatchObject([
      { text: 'half way' },
      { type: 'end' },
    ])
    history.push({ type: 'message', role: 'assistant', text: 'half way' })
    expect(await collect(await open(...lines), request({ history }))).toMatchObject([
      { call: { id: 'call_2' } },
      { type: 'end' },
    ])
  })

  test('an aborted signal stops it with its reason', async () => {
    const why = new Error('over')
    await expect(collect(await open(header, { events: [] }), request(), AbortSignal.abort(why))).rejects.toBe(why)
  })
})

describe('what a recording expects', () => {
  const expecting = (expect: unknown): Promise<Model> =>
    open(header, { events: [lsCall] }, { expect: [expect], events: [{ type: 'message', text: 'fits' }] })
  const fits = [
    { type: 'message', text: 'fits' },
    { type: 'end', usage: noUsage },
  ]

  test.each([
    ['the same text', 'a\nb', 'a\nb'],
    ['a list of lines', ['a', 'b'], 'a\nb'],
    ['a final newline', 'a\nb', 'a\nb\n\n'],
    ['carriage returns', 'a\nb', 'a\r\nb\r\n'],
    ['blanks at the end of a line', 'a', 'a  \t'],
    ['colours', 'ok 1', '\u001b[32mok\u001b[39m 1'],
    ['nothing at all', '', ''],
    ['any text', 'x <<any>> y', 'x 🚀 [1] y'],
    ['any text that is empty', '<<any>>', ''],
    ['numbers', 'took <<number>> and <<number>>', 'took 3 and 0.25'],
    ['durations', ['<<duration>>', '<<duration>>', '<<duration>>'], '0.0132 seconds\n12ms\n1m 3s'],
    ['hashes', 'Chunk ID: <<hash>>', 'Chunk ID: dc2535'],
    ['temporary paths', "open '<<tmp>>': no", "open '/tmp/x-Ab3/y.txt': no"],
    ['lines in between', ['a', '<<lines>>', 'z'], 'a\n1\n2\nz'],
    ['no lines in between', ['a', '<<lines>>', 'z'], 'a\nz'],
    ['lines before a repeated line', ['<<lines>>', 'z'], 'z\na\nz'],
    ['lines and nothing else', '<<lines>>', ''],
    ['what only looks like a placeholder', 'cout <<x>> (1+1)*2', 'cout <<x>> (1+1)*2'],
    ['whether it succeeded', { ok: true, output: 'a' }, 'a'],
  ])('%s', async (_, expected, got) => {
    expect(await second(await expecting(expected), got)).toEqual(fits)
  })

  test.each([
    ['other text', 'a', 'b'],
    ['one line less', ['a', 'b'], 'a'],
    ['one line more', 'a', 'a\nb'],
    ['text around a number', '<<number>>', '3 apples'],
    ['a word for a number', 'n = <<number>>', 'n = many'],
    ['a pattern that is not one', 'a.c', 'abc'],
    ['a path elsewhere', '<<tmp>>', '/home/x'],
    ['a line missing after any lines', ['<<lines>>', 'z'], 'a\nb'],
    ['a success that is now a failure', { ok: true, output: 'a' }, { output: 'a', ok: false }],
  ])('not: %s', async (_, expected, got) => {
    await expect(second(await expecting(expected), got)).rejects.toMatchObject({ code: 'replay' })
  })

  test('a difference is shown with its place, the call and the lines around it', async () => {
    const model = await expecting(['Exit code: <<number>>', 'one', 'two', 'three', '3 failing', 'end'])
    await expect(second(model, 'Exit code: 1\none\ntwo\nthree\n4 failing\nend')).rejects.toThrow(
      [
        'demo.jsonl:3: the recording no longer matches: call 1 of 1 (exec_command {"cmd":"npm test"}) returned a different result, starting at line 5:',
        '    one',
        '    two',
        '    three',
        '  - 3 failing',
        '  - end',
        '  + 4 failing',
        '  + end',
        "  Lines with '-' are from the recording, lines with '+' from this run.",
      ].join('\n'),
    )
  })

  test('long differences are cut', async () => {
    const error: unknown = await second(await expecting('x'), 'y\n'.repeat(1000)).catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('  + … 994 more lines')
    expect(String(error).length).toBeLessThan(1000)
  })

  test('a call without a result does not match', async () => {
    const model = await expecting('x')
    await collect(model)
    await expect(collect(model)).rejects.toThrow('call 1 of 1 (exec_command {"cmd":"npm test"}) has no result.')
  })

  test('without expectations any result is accepted', async () => {
    expect(await second(await open(header, { events: [lsCall] }, { events: [] }), 'whatever')).toEqual([fits[1]])
  })
})

describe('an invalid recording is refused with file and line', () => {
  test.each([
    ['an empty file', [''], /^demo\.jsonl:1: .*the file is empty/],
    ['no header', [{ events: [] }], /^demo\.jsonl:1: .*portcullis_replay/s],
    ['another version', [{ portcullis_replay: 2 }], /^demo\.jsonl:1: .*portcullis_replay/s],
    ['a line that is not JSON', [header, '', '{"events": ['], /^demo\.jsonl:3: not a line of a recording: not JSON: /],
    ['an unknown event', [header, { events: [{ type: 'shout', text: 'x' }] }], /^demo\.jsonl:2: .*events/s],
    ['an unknown field', [header, { events: [], expects: [] }], /^demo\.jsonl:2: .*expects/s],
    ['a call without input', [header, { events: [{ type: 'tool_call', name: 'x' }] }], /^demo\.jsonl:2: /],
    [
      'expectations without calls',
      [header, { events: [] }, { expect: ['x'], events: [] }],
      /^demo\.jsonl:3: .*'expect' has 1 result, but the preceding response makes 0 calls$/,
    ],
  ])('%s', async (_, lines, message) => {
    await expect(open(...lines)).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(message) as string,
    })
  })

  test('a missing file', async () => {
    await expect(openModel('replay:none.jsonl', { env: {}, cwd: '/' })).rejects.toMatchObject({
      code: 'configuration',
      message: "Can't read the recording none.jsonl: there is no such file.",
    })
  })

  test('no file at all', async () => {
    await expect(openModel('replay:', { env: {}, cwd: '/' })).rejects.toMatchObject({ code: 'configuration' })
  })
})
