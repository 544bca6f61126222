import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../engine/tools/define-tool.ts'
import type { Tool } from '../../../engine/tools/tool.ts'
import type { ToolResult } from '../../../engine/tools/tool-result.ts'
import { testInBubblewrap } from '../../sandbox/helpers.ts'
import { calls, resultsIn, says, scriptedRun } from '../../support/scripted-run.ts'
import { repository } from '../../support/workspace.ts'

const tool = (name: string, safe: boolean, run: (signal: AbortSignal) => Promise<ToolResult>): Tool =>
  defineTool({
    name,
    description: '',
    input: z.object({}),
    concurrencySafe: () => safe,
    run: (_, { signal }) => run(signal),
  })

const ok = (output: string): Promise<ToolResult> => Promise.resolve({ ok: true, output })

describe('a call that is safe beside others', () => {
  test('begins while the model still writes, after the text before it', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const look = tool('look', true, () => (begin(), ok('seen')))
    const { events, history } = await scriptedRun({
      tools: [look],
      responses: [
        async function* () {
          yield says('first I look')
          yield calls('look', {}, 'a')
          await begun
          yield says('then I go on')
        },
        () => [says('done')],
      ],
    })
    const items = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(items.map((item) => (item.type === 'agent_message' ? item.text : item.type))).toEqual([
      'first I look',
      'tool_call',
      'then I go on',
      'done',
    ])
    expect(history.map(({ type }) => type)).toEqual(['message', 'message', 'tool_call', 'message', 'tool_result'])
  })

  test('is cancelled and repeated if the response is cut off, and has one result', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const heard: unknown[] = []
    const look = tool('look', true, (signal) => {
      begin()
      if (heard.push(signal) > 1) return ok('seen')
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ ok: false, output: 'void' }), { once: true }),
      )
    })
    const { history } = await scriptedRun({
      tools: [look],
      responses: [
        async function* () {
          yield calls('look', {}, 'a')
          await begun
          yield { type: 'retry', attempt: 1, of: 5, reason: 'cut', waitMs: 0 }
          yield calls('look', {}, 'b')
        },
        () => [says('done')],
      ],
    })
    expect(resultsIn(history)).toEqual([['b', 'seen']])
  })
})

test('a response that is cut off makes no unsafe call', async () => {
  let made = 0
  const change = tool('change', false, () => ok(`change ${(made += 1)}`))
  const { history } = await scriptedRun({
    tools: [change],
    responses: [
      () => [
        calls('change', {}, 'a'),
        { type: 'retry', attempt: 1, of: 5, reason: 'cut', waitMs: 0 },
        calls('change', {}, 'b'),
      ],
      () => [says('done')],
    ],
  })
  expect(resultsIn(history)).toEqual([['b', 'change 1']])
})

test('results reach the model in call order, whichever call ends first', async () => {
  const { promise, resolve } = Promise.withResolvers<ToolResult>()
  const slow = tool('slow', true, () => promise)
  const quick = tool('quick', true, () => (resolve({ ok: true, output: 'slow' }), ok('quick')))
  const { history } = await scriptedRun({
    tools: [slow, quick],
    responses: [() => [calls('slow', {}, 'a'), calls('quick', {}, 'b')], () => [says('done')]],
  })
  expect(resultsIn(history)).toEqual([
    ['a', 'slow'],
    ['b', 'quick'],
  ])
})

test('a call with an internal error cancels the parallel calls, and the model is told', async () => {
  const waits = tool(
    'waits',
    true,
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({ ok: false, output: 'cut' }))),
  )
  const breaks = tool('breaks', true, () => Promise.reject(new Error('no more')))
  const after = tool('after', false, () => ok('after'))
  const { history } = await scriptedRun({
    tools: [waits, breaks, after],
    responses: [
      () => [calls('waits', {}, 'a'), calls('breaks', {}, 'b'), calls('after', {}, 'c')],
      () => [says('done')],
    ],
  })
  expect(resultsIn(history)).toEqual([
    ['a', 'cut\nIt was cancelled because another call in the same batch could not be carried out.'],
    ['b', 'breaks failed because of an internal error: no more. It may have taken effect: look before you repeat it.'],
    ['c', 'after'],
  ])
})

test('calls that are wrong, unknown or refused do not affect parallel calls', async () => {
  const look = tool('look', true, () => ok('seen'))
  const reach = defineTool({
    name: 'reach',
    description: '',
    input: z.object({ host: z.string() }),
    concurrencySafe: () => true,
    action: ({ host }) => ({ type: 'network', host, port: 443, protocol: 'https' }),
    run: () => ok('reached'),
  })
  const { history } = await scriptedRun({
    tools: [look, reach],
    responses: [
      () => [
        calls('reach', { host: 'example.test' }, 'a'),
        calls('reach', {}, 'b'),
        calls('nothing', {}, 'c'),
        calls('look', {}, 'd'),
      ],
      () => [says('done')],
    ],
  })
  expect(resultsIn(history)).toMatchObject([
    ['a', expect.stringContaining('Refused by the Guardian')],
    ['b', expect.stringContaining('are not valid')],
    ['c', expect.stringContaining('There is no tool')],
    ['d', 'seen'],
  ])
})

test('a stopped run ends its calls, and no listener is left', async () => {
  const stop = new AbortController()
  const waits = tool('waits', true, (signal) => {
    stop.abort('interrupted')
    return new Promise((resolve) => {
      if (signal.aborted) resolve({ ok: false, output: 'cut' })
      signal.addEventListener('abort', () => resolve({ ok: false, output: 'cut' }))
    })
  })
  const { summary } = await scriptedRun({
    tools: [waits],
    responses: [() => [calls('waits', {}, 'a'), calls('waits', {}, 'b')]],
    signal: stop.signal,
  })
  expect(summary.reason).toBe('interrupted')
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
})

describe('shell commands', () => {
  testInBubblewrap('that only read run in parallel; one that writes runs alone, in order', async () => {
    const shell = (cmd: string, id: string): ReturnType<typeof calls> => calls('exec_command', { cmd }, id)
    const { events, history } = await scriptedRun({
      // In a repository of its own, commands have a /tmp of their own, even if the folder for temporary files lies in a repository.
      workspace: repository(),
      mode: 'workspace-write',
      responses: [
        () => [
          shell('sleep 1; echo slow', 'a'),
          shell('echo quick', 'b'),
          shell('echo one >> log; echo note > /tmp/note', 'c'),
          shell('cat log', 'd'),
          shell('cat /tmp/note', 'e'),
          shell('echo two >> log', 'f'),
          shell('cat log', 'g'),
        ],
        () => [says('done')],
      ],
    })
    const order = events.flatMap((event) =>
      (event.type === 'item.started' || event.type === 'item.completed') && event.item.type === 'command_execution'
        ? [`${event.type === 'item.started' ? '+' : '-'}${event.item.call_id}`]
        : [],
    )
    expect(order.slice(0, 6)).toEqual(['+a', '+b', '-b', '-a', '+c', '-c'])
    expect(order.slice(6, 8)).toEqual(['+d', '+e'])
    expect(order.slice(10)).toEqual(['+f', '-f', '+g', '-g'])
    const outputs = resultsIn(history).map(([, output]) => output.split('Output:\n')[1])
    expect(outputs).toEqual(['slow', 'quick', '', 'one', 'note', '', 'one\ntwo'])
  })
})
