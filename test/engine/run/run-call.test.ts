import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Item, RunEvent } from '../../../engine/core/events.ts'
import { noHooks, type CallHooks } from '../../../engine/tools/hook-interface.ts'
import { defineTool } from '../../../engine/tools/define-tool.ts'
import { openPath } from '../../support/call-path.ts'

const completed = (events: readonly RunEvent[]): readonly Item[] =>
  events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))

const echo = defineTool({
  name: 'echo',
  description: 'says it again',
  input: z.object({ text: z.string() }),
  validate: ({ text }) => (text === '' ? 'There is nothing to say.' : undefined),
  run: ({ text }) => Promise.resolve({ ok: true, output: text }),
})

const reach = defineTool({
  name: 'reach',
  description: 'connects to a host',
  input: z.object({ host: z.string() }),
  action: ({ host }) => ({ type: 'network', host, port: 443, protocol: 'https' }),
  run: (_, { approved }) => Promise.resolve({ ok: true, output: `reached ${approved.host}` }),
})

test('a call gives an item that begins and ends, and a result', async () => {
  const { call, events } = await openPath({ tools: [echo] })
  expect(await call('echo', { text: 'hello' })).toEqual({ ok: true, output: 'hello' })
  const item = { id: 'item_0', type: 'tool_call', tool: 'echo', input: '{"text":"hello"}', call_id: 'call' }
  expect(events).toEqual([
    { type: 'item.started', item: { ...item, status: 'in_progress' } },
    {
      type: 'item.completed',
      item: { ...item, status: 'completed', output: 'hello', duration_ms: expect.any(Number) },
    },
  ])
})

describe('becomes a result and a separate item', () => {
  test.each([
    ['an unknown tool', 'ecko', {}, "Did you mean 'echo'? The tools are: echo."],
    ['text that is not JSON', 'echo', '{"text":', 'echo: the arguments are not JSON'],
    ['arguments that do not fit', 'echo', { txt: 1 }, 'echo: the arguments are not valid.'],
    ['what the tool itself finds wrong', 'echo', { text: '' }, 'There is nothing to say.'],
  ])('%s', async (_, name, input, message) => {
    const { call, events } = await openPath({ tools: [echo] })
    const result = await call(name, input)
    expect(result).toEqual({ ok: false, output: expect.stringContaining(message) })
    expect(completed(events)).toMatchObject([{ type: 'tool_call', tool: name, status: 'failed', error: result.output }])
  })

  test('a tool that needs a person, without a person', async () => {
    const ask = defineTool({
      name: 'ask',
      description: 'asks',
      input: z.object({}),
      headless: false,
      run: () => Promise.resolve({ ok: true, output: 'yes' }),
    })
    const alone = await openPath({ tools: [ask] })
    expect(await alone.call('ask', {})).toEqual({ ok: false, output: expect.stringContaining('nobody is available') })
    expect(completed(alone.events)).toMatchObject([{ status: 'failed' }])
    const attended = await openPath({ tools: [ask], attended: true })
    expect(await attended.call('ask', {})).toEqual({ ok: true, output: 'yes' })
  })

  test('a tool that throws gets an error result, and its item is closed', async () => {
    const broken = defineTool({
      name: 'broken',
      description: '',
      input: z.object({}),
      run: () => Promise.reject(new Error('out of order')),
    })
    const { call, events } = await openPath({ tools: [broken] })
    expect(await call('broken', {})).toEqual({
      ok: false,
      broken: true,
      output:
        'broken failed because of an internal error: out of order. It may have taken effect: look before you repeat it.',
    })
    expect(completed(events)).toMatchObject([
      { type: 'tool_call', status: 'failed' },
      {
        type: 'error',
        message:
          'broken failed because of an internal error: out of order. It may have taken effect: look before you repeat it.',
      },
    ])
  })
})

describe('a tool that names an action', () => {
  test('runs with what was approved', async () => {
    const { call, events } = await openPath({ tools: [reach], approvalMode: 'bypass' })
    expect(await call('reach', { host: 'example.test' })).toEqual({ ok: true, output: 'reached example.test' })
    expect(completed(events)).toMatchObject([{ status: 'completed', verdict: { decision: 'allow' } }])
  })

  test('does not run when the Guardian refuses, and the reason is in result and item', async () => {
    const { call, events } = await openPath({ tools: [reach] })
    const result = await call('reach', { host: 'example.test' })
    expect(result).toMatchObject({ ok: false, output: expect.stringContaining('No rule covers a connection') })
    expect(completed(events)).toMatchObject([{ status: 'declined', verdict: { decision: 'deny' } }])
  })
})

describe('hooks', () => {
  const before = (answer: CallHooks['before']): CallHooks => ({ ...noHooks, before: answer })

  test('see the call with its arguments, before and after', async () => {
    const seen: unknown[] = []
    const hooks: CallHooks = {
      before: ({ id, tool, input }) => {
        seen.push({ id, tool, input })
        return Promise.resolve({ decision: 'proceed' })
      },
      after: ({ tool }, result) => {
        seen.push({ tool, result })
        return Promise.resolve(result)
      },
    }
    const { call } = await openPath({ tools: [echo], hooks })
    await call('echo', { text: 'hello' })
    expect(seen).toEqual([
      { id: 'call', tool: 'echo', input: { text: 'hello' } },
      { tool: 'echo', result: { ok: true, output: 'hello' } },
    ])
  })

  test('can block a call', async () => {
    const hooks = before(() => Promise.resolve({ decision: 'block', reason: 'not on Fridays' }))
    const { call, events } = await openPath({ tools: [echo], hooks })
    expect(await call('echo', { text: 'hello' })).toEqual({ ok: false, output: 'Refused by a hook: not on Fridays' })
    expect(completed(events)).toMatchObject([
      { status: 'declined', verdict: { decision: 'deny', decided_by: 'hook', reason: 'not on Fridays' } },
    ])
  })

  test('can change the arguments, which are checked again', async () => {
    const change = (input: unknown): CallHooks => before(() => Promise.resolve({ decision: 'proceed', input }))
    const changed = await openPath({ tools: [echo], hooks: change({ text: 'bye' }) })
    expect(await changed.call('echo', { text: 'hello' })).toEqual({ ok: true, output: 'bye' })
    for (const input of [{ text: 1 }, { text: '' }]) {
      const misfit = await openPath({ tools: [echo], hooks: change(input) })
      const result = await misfit.call('echo', { text: 'hello' })
      expect(result).toEqual({ ok: false, output: expect.stringContaining('A hook changed the arguments.') })
    }
  })

  test('that change the arguments do not bypass the Guardian', async () => {
    const hooks = before(() => Promise.resolve({ decision: 'proceed', input: { host: 'evil.test' } }))
    const { call } = await openPath({ tools: [reach], hooks })
    expect(await call('reach', { host: 'example.test' })).toMatchObject({
      ok: false,
      output: expect.stringContaining('evil.test'),
    })
  })

  test('can add context for the model, and replace the result', async () => {
    const hooks: CallHooks = {
      before: () => Promise.resolve({ decision: 'proceed', context: 'mind the gap' }),
      after: (_, result) => Promise.resolve({ ...result, output: result.output.toUpperCase() }),
    }
    const { call } = await openPath({ tools: [echo], hooks })
    expect(await call('echo', { text: 'hello' })).toEqual({ ok: true, output: 'HELLO\nMIND THE GAP' })
  })

  test('that fail block the call, and withhold a result', async () => {
    const fail = (): Promise<never> => Promise.reject(new Error('no such file'))
    const early = await openPath({ tools: [echo], hooks: before(fail) })
    expect(await early.call('echo', { text: 'hello' })).toEqual({
      ok: false,
      output: 'Refused by a hook: A hook failed: no such file',
    })
    const late = await openPath({ tools: [echo], hooks: { ...noHooks, after: fail } })
    const result = await late.call('echo', { text: 'secret' })
    expect(result).toEqual({ ok: false, output: expect.stringContaining('no such file') })
    expect(result.output).not.toContain('secret')
  })
})

test('a long result is cut in the middle, and all of it is stored', async () => {
  const { call, kept } = await openPath({ tools: [echo] })
  const text = `first ${'x'.repeat(100_000)} last`
  const { output } = await call('echo', { text })
  expect(output).toMatch(
    /^first [^]* left out from within line 1; the whole output is in \S*output-1\.txt \(to read on, call read_file[^]* last$/,
  )
  expect(output.length).toBeLessThan(41_000)
  expect(kept.map((bytes) => Buffer.from(bytes).toString())).toEqual([text])
})

test('a secret from the environment is hidden in results, items and kept outputs', async () => {
  const env = { MY_API_KEY: 'sk-12345678', HOME: '/home/somebody' }
  const { call, events, kept } = await openPath({ tools: [echo], env })
  const text = 'the key is sk-12345678 in /home/somebody'
  expect(await call('echo', { text })).toEqual({ ok: true, output: 'the key is [MY_API_KEY] in /home/somebody' })
  await call('echo', { text: `${text}${'x'.repeat(100_000)}` })
  expect(Buffer.from(kept[0] ?? []).toString()).not.toContain('sk-12345678')
  expect(JSON.stringify(completed(events))).not.toContain('"output":"the key is sk-12345678')
})
