import { expect, test } from 'vitest'
import type { CommandItem, RunEvent } from '../../../engine/core/events.ts'
import { Recorder } from '../../../engine/run/recorder.ts'
import type { Tool } from '../../../engine/tools/tool.ts'
import { calls, resultsIn, says, scriptedRun, type Response } from '../../support/scripted-run.ts'

const command = (cmd: string, id: string, more: object = {}): Response => {
  return () => [calls('exec_command', { cmd, ...more }, id)]
}
const done: Response = () => [says('done')]

function commandsIn(events: readonly RunEvent[]): readonly CommandItem[] {
  return events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item] : [],
  )
}

test('a command that still runs is asked about once, then it is ended and named', async () => {
  const { summary, events, history } = await scriptedRun({
    responses: [command('sleep 600', 'one', { yield_time_ms: 1 }), done, () => [says('really done')]],
  })
  expect([summary.reason, summary.finalMessage]).toEqual(['done', 'really done'])
  const asked = history.flatMap((item) =>
    item.type === 'message' && item.role === 'developer' && item.text.includes('are stopped when you finish')
      ? [item.text]
      : [],
  )
  expect(asked).toEqual([expect.stringMatching(/\n- session 1: \S+ -c 'sleep 600'$/)])
  expect(commandsIn(events)).toMatchObject([{ exit_code: null, ended_by: 'cancelled' }])
})

test('a command that has ended is not asked about', async () => {
  const { summary, history } = await scriptedRun({
    responses: [command('true', 'one', { yield_time_ms: 1 }), command('sleep 1', 'two'), done],
  })
  expect(summary.finalMessage).toBe('done')
  expect(JSON.stringify(history)).not.toContain('are stopped when you finish')
})

test('of a command whose end is lost, the record says whether it had started', () => {
  const events: RunEvent[] = []
  const recorder = new Recorder([{ event: (event) => void events.push(event) }])
  const open = (name: string) =>
    recorder.open({
      type: 'command_execution',
      command: name,
      aggregated_output: '',
      exit_code: null,
      status: 'in_progress',
      call_id: name,
      cwd: '/',
    })
  open('never started')
  open('lost').began()
  const killed = open('killed')
  killed.began()
  killed.complete({ status: 'failed', ended_by: 'signal' })
  const ended = open('ended')
  ended.began()
  ended.complete({ status: 'failed', exit_code: 1 })
  recorder.end('failed', 'why')
  expect(Object.fromEntries(commandsIn(events).map((item) => [item.command, item.started]))).toEqual({
    'never started': false,
    lost: true,
    killed: undefined,
    ended: undefined,
  })
})

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

test('a tool that took effect before it failed is not taken for one that did nothing', async () => {
  const tool = failing(new Error('the cat is on the keyboard'))
  const { history } = await scriptedRun({ responses: [() => [calls('fails', {}, 'one')], done], tools: [tool] })
  expect(resultsIn(history)).toEqual([
    [
      'one',
      'fails failed because of an internal error: the cat is on the keyboard. It may have taken effect: look before you repeat it.',
    ],
  ])
})

test('a run ends at once when nothing more can be recorded, and the model is not asked again', async () => {
  const { summary } = await scriptedRun({ responses: [() => [calls('fails', {}, 'one')]], tools: [failing(full)] })
  expect([summary.reason, summary.exitCode, summary.error]).toEqual([
    'failed',
    1,
    expect.stringMatching(/^A disk takes no more data \(ENOSPC .*TMPDIR/) as string,
  ])
})

function failing(error: Error): Tool {
  return {
    name: 'fails',
    description: 'fails',
    headless: true,
    enabled: true,
    deferred: false,
    alwaysLoad: false,
    searchHint: '',
    claudeNames: [],
    suggested: false,
    sideBySide: false,
    ownItems: false,
    guarded: true,
    declaration: undefined,
    parse: () => ({ json: {} }),
    check: () => ({
      valid: true,
      readOnly: () => false,
      concurrencySafe: () => false,
      seenAs: () => undefined,
      validate: () => Promise.resolve(undefined),
      action: () => undefined,
      refusal: () => undefined,
      run: () => Promise.reject(error),
    }),
  }
}
