import { describe, expect, test } from 'vitest'
import { ModelError } from '../../../engine/core/model.ts'
import type { HistoryItem } from '../../../engine/core/model.ts'
import { call, say, think } from '../../support/mock-model.ts'
import type { Output, Reply } from '../../support/mock-model.ts'
import { collectFinished, noUsage, request } from './conversation.ts'
import { startWire, wires } from './wires.ts'

describe.each(wires)('$wire: an answer that reaches its length limit', (wire) => {
  const cut = (...said: Output[]): Reply => ({
    say: said,
    end: { type: 'incomplete', reason: wire.truncated },
    usage: { input: 9, output: 5 },
  })
  const spent = { ...noUsage, inputTokens: 9, outputTokens: 5 }

  test('is continued and becomes one message, and the usage of each part counts', async () => {
    const { mock, model } = await startWire(wire, [cut(say('Half of ')), cut(say('it, and ')), [say('the rest.')]])
    expect(await collectFinished(model)).toMatchObject([
      { type: 'cut', spent },
      { type: 'cut', spent },
      { type: 'message', text: 'Half of it, and the rest.' },
      { type: 'end', usage: noUsage },
    ])
    expect(JSON.stringify(mock.requests[2]?.body)).toMatch(/Half of .*Resume directly.*it, and .*Resume directly/)
  })

  test('while thinking makes the model think less', async () => {
    const { mock, model } = await startWire(wire, [cut(think('Hm.', 'sig')), [say('So.')]])
    const events = await collectFinished(model)
    expect(events.filter(({ type }) => type === 'message')).toMatchObject([{ text: 'So.' }])
    expect(JSON.stringify(mock.requests[1]?.body)).toContain('Think less')
  })

  test('in a call is not continued: the call is marked, and must be answered', async () => {
    const { mock, model } = await startWire(wire, [cut(say('Writing.'), call('exec_command', '{"cmd":"ec', 'c1'))])
    const events = await collectFinished(model)
    expect(events).toMatchObject([{ text: 'Writing.' }, { call: { input: '{"cmd":"ec', cut: true } }, { type: 'end' }])
    expect(mock.requests).toHaveLength(1)
  })

  test('can be part of a history that continues', async () => {
    const { model } = await startWire(wire, [cut(say('Half ')), [say('whole.')], [say('Yes.')]])
    const [, said] = await collectFinished(model)
    const history = [
      ...request().history,
      { ...said, role: 'assistant' } as HistoryItem,
      { type: 'message', role: 'user', text: 'Sure?' } as const,
    ]
    expect(await collectFinished(model, request({ history }))).toMatchObject([{ text: 'Yes.' }, { type: 'end' }])
  })

  test('and is then refused temporarily loses nothing', async () => {
    const { model } = await startWire(wire, [
      cut(say('Half ')),
      { status: 500, body: wire.error('Oops') },
      [say('whole.')],
    ])
    const events = await collectFinished(model)
    expect(events.map(({ type }) => type)).toEqual(['cut', 'retry', 'message', 'end'])
    expect(events).toContainEqual({ type: 'message', text: 'Half whole.' })
  })

  test('too often fails', async () => {
    const { mock, model } = await startWire(
      wire,
      Array.from({ length: 6 }, () => cut(say('x'))),
    )
    const error: unknown = await collectFinished(model).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ModelError)
    const message = `${wire.label} ended its response early: ${wire.truncated} (gave up after asking it to continue 4 times)`
    expect(error).toMatchObject({ failure: 'incomplete', message, spent })
    expect(mock.requests).toHaveLength(5)
  })
})

test('a provider gets no more tools than it accepts, and the user learns which are left out', async () => {
  for (const wire of wires) {
    const { mock, model } = await startWire(wire, [[say('ok')], [say('ok')]])
    const tools = Array.from({ length: 130 }, (_, at) => {
      return { kind: 'function', name: `tool_${at}`, description: 'x', parameters: { type: 'object' } } as const
    })
    const events = await collectFinished(model, request({ tools }))
    const { tools: sent } = mock.requests[0]?.body as { tools: readonly object[] }
    const notices = events.filter(({ type }) => type === 'notice')
    if (wire.wire === 'Messages') expect([sent.length, notices]).toEqual([130, []])
    else {
      expect([sent.length, notices.length]).toEqual([128, 1])
      expect(notices[0]).toMatchObject({ message: expect.stringMatching(/128 tools.*: tool_128, tool_129$/) })
    }
    expect((await collectFinished(model, request({ tools }))).map(({ type }) => type)).toEqual(['message', 'end'])
  }
})

describe('a local server', () => {
  const wire = wires.find((candidate) => candidate.wire === 'Chat Completions') ?? wires[0]!

  test('that can’t count tokens in a stream is not asked to', async () => {
    const refusal = { status: 400, body: wire.error('Unknown field: stream_options') }
    const { mock, model } = await startWire(wire, [refusal, [say('ok')], [say('ok')]])
    await collectFinished(model)
    await collectFinished(model)
    expect(mock.requests.map(({ body }) => Object.hasOwn(body as object, 'stream_options'))).toEqual([
      true,
      false,
      false,
    ])
  })

  test('that truncates prompts to its context window is reported, once', async () => {
    const reply: Reply = { say: [say('ok')], usage: { input: 4095 } }
    const { model } = await startWire(wire, [reply, reply])
    const history: readonly HistoryItem[] = [{ type: 'message', role: 'user', text: 'word '.repeat(10_000) }]
    const [notice] = await collectFinished(model, request({ history }))
    expect(notice).toMatchObject({ type: 'notice', message: expect.stringContaining('num_ctx') })
    expect((await collectFinished(model, request({ history }))).map(({ type }) => type)).toEqual(['message', 'end'])
  })
})
