import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { TaskHooks } from '../../../engine/tools/tasks/hooked-task.ts'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { closeWorkingState } from '../../../engine/tools/working-state.ts'
import { loadRules, type RuleSet } from '../../../policies/index.ts'
import { openFor, processesWith, temporaryDirectory, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath, type ObservedPath } from '../../support/call-path.ts'
import { isRunning } from '../../support/is-running.ts'
import { calls, resultsIn, says, scriptedRun } from '../../support/scripted-run.ts'

type Opened = ObservedPath & { readonly workspace: string; readonly close: () => Promise<void> }

async function open(given: { readonly rules?: RuleSet; readonly taskHooks?: TaskHooks } = {}): Promise<Opened> {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const observed = await openPath({ tools: builtInTools, sandbox, ...given })
  return { ...observed, workspace, close: () => closeWorkingState(observed.path.context.state) }
}

const begin = (cmd: string, more: object = {}) => ({ title: 'a job', cmd, ...more })
const wait = { task_id: 'task-1', wait_ms: 60_000 }

describe('a background task', () => {
  test('runs in parallel with other calls, and reports its output once, and how it ended', async () => {
    const { call, events } = await open()
    expect(await call('task_create', begin('echo first; until [ -e go ]; do sleep 0.05; done; echo last'))).toEqual({
      ok: true,
      output: 'task-1 has started (session 1).',
    })
    let printed = ''
    while (!printed.includes('first')) printed += (await call('task_output', { task_id: 'task-1', wait_ms: 50 })).output
    expect(printed).toMatch(/^task-1 is running\.\nProcess running with session ID 1\n/)
    await call('exec_command', { cmd: 'touch go' })
    const { ok, output } = await call('task_output', wait)
    expect(ok).toBe(true)
    expect(output).toMatch(/^task-1 is completed\.\nProcess exited with code 0\n[^]*Output:\nlast$/)
    expect((await call('task_output', { task_id: 'task-1' })).output).toMatch(/Output:\n$/)
    expect(events).toContainEqual({
      type: 'item.completed',
      item: expect.objectContaining({
        type: 'command_execution',
        aggregated_output: 'first\nlast\n',
        exit_code: 0,
        status: 'completed',
      }),
    })
  })

  test('waits no longer than requested', async () => {
    const { call, close } = await open()
    await call('task_create', begin('sleep 71.5'))
    expect((await call('task_output', { task_id: 'task-1', wait_ms: 1 })).output).toContain('task-1 is running.')
    await close()
    expect(processesWith('sleep 71.5')).toEqual([])
  })

  test('that fails is reported', async () => {
    const { call } = await open()
    await call('task_create', begin('echo broken >&2; exit 3'))
    const { output } = await call('task_output', wait)
    expect(output).toMatch(/^task-1 has failed\.\nProcess exited with code 3\n[^]*broken$/)
  })

  test('is ended with everything it started', async () => {
    const { call } = await open()
    await call('task_create', begin('echo begun; (setsid sleep 72.5 &); sleep 72.5'))
    let printed = ''
    while (!printed.includes('begun')) printed += (await call('task_output', { task_id: 'task-1', wait_ms: 50 })).output
    const { output } = await call('task_stop', { task_id: 'task-1' })
    expect(output).toMatch(/^task-1 was stopped\.\nProcess was killed before it finished\n/)
    expect(processesWith('sleep 72.5')).toEqual([])
  })

  test('keeps a title, a description and notes', async () => {
    const { call, close } = await open()
    await call('task_create', begin('sleep 73.5', { description: 'serves the pages' }))
    await call('task_update', { task_id: 'task-1', title: 'the server', note: 'listens on 80' })
    await call('task_update', { task_id: 'task-1', note: 'answers' })
    expect((await call('task_get', { task_id: 'task-1' })).output).toMatch(
      /^the server \(command, session 1, [\d.]+ s\)\ntask-1 is running\.\nDescription: serves the pages\nNote: listens on 80\nNote: answers$/,
    )
    expect((await call('task_list', {})).output).toMatch(
      /^task-1 \[running\] the server \(command, session 1, [\d.]+ s\)$/,
    )
    expect(await call('task_update', { task_id: 'task-1' })).toMatchObject({ ok: false })
    await close()
  })

  test('can be typed into where it has a terminal', async () => {
    const { call } = await open()
    await call('task_create', begin('read name; echo "hello $name"', { tty: true }))
    await call('write_stdin', { session_id: 1, chars: 'you\n', yield_time_ms: 1 })
    expect((await call('task_output', wait)).output).toContain('task-1 is completed')
  })

  test('with an unknown id is answered with the known ones', async () => {
    const { call } = await open()
    expect((await call('task_get', { task_id: 'task-9' })).output).toContain(
      "There is no task 'task-9'. This run has no tasks.",
    )
    await call('task_create', begin('true'))
    expect(await call('task_stop', { task_id: 'task-9' })).toMatchObject({
      ok: false,
      output: expect.stringContaining('Tasks of this run: task-1.'),
    })
  })
})

describe('a background task does not bypass', () => {
  test('the rules of the Guardian', async () => {
    const rules = loadRules([
      { path: 'a.rules', layer: 'user', text: 'prefix_rule(pattern=["touch"], decision="forbidden")' },
    ])
    const { call, workspace, events } = await open({ rules })
    expect(await call('task_create', begin('touch made'))).toMatchObject({
      ok: false,
      refused: expect.objectContaining({ decided_by: 'rules' }),
      output: expect.stringContaining('Refused by the Guardian'),
    })
    expect((await call('task_list', {})).output).toBe('There are no tasks.')
    expect(existsSync(join(workspace, 'made'))).toBe(false)
    expect(events.at(-3)).toMatchObject({ item: { type: 'command_execution', status: 'declined' } })
  })

  test('the sandbox, and reports what it refused', async () => {
    const { call } = await open()
    const outside = await temporaryDirectory()
    await call('task_create', begin(`echo x > ${outside}/made`))
    expect((await call('task_output', wait)).output).toContain('has failed')
    expect(existsSync(join(outside, 'made'))).toBe(false)
  })

  test('apply_patch', async () => {
    const { call } = await open()
    const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n"
    expect(await call('task_create', begin(patch))).toMatchObject({
      ok: false,
      output: expect.stringContaining('Use apply_patch'),
    })
  })

  test('the limit on their number', async () => {
    const { call, close } = await open()
    for (let at = 0; at < 16; at++) expect(await call('task_create', begin('sleep 74.5'))).toMatchObject({ ok: true })
    expect(await call('task_create', begin('sleep 74.5'))).toMatchObject({
      ok: false,
      output: expect.stringContaining('16 tasks are already running'),
    })
    await call('task_stop', { task_id: 'task-1' })
    expect(await call('task_create', begin('sleep 74.5'))).toMatchObject({ ok: true })
    await close()
    expect(processesWith('sleep 74.5')).toEqual([])
  })
})

describe('hooks of background tasks', () => {
  const hooks = (given: Partial<TaskHooks>): TaskHooks => ({
    created: () => Promise.resolve(undefined),
    completed: () => Promise.resolve(undefined),
    ...given,
  })

  test('that refuse prevent a task', async () => {
    const { call, workspace } = await open({ taskHooks: hooks({ created: () => Promise.resolve('no description') }) })
    expect(await call('task_create', begin('touch made'))).toEqual({
      ok: false,
      output: 'The task was not created: a TaskCreated hook refused it. no description',
    })
    expect(existsSync(join(workspace, 'made'))).toBe(false)
  })

  test('that don’t accept it as done are asked again when the model says that it is', async () => {
    const answers = ['the tests are red', 'still red', undefined]
    const { call } = await open({ taskHooks: hooks({ completed: () => Promise.resolve(answers.shift()) }) })
    await call('task_create', begin('true'))
    expect((await call('task_output', wait)).output).toContain(
      'a TaskCompleted hook does not accept it as done. the tests are red',
    )
    const again = () => call('task_update', { task_id: 'task-1', status: 'completed' })
    expect(await again()).toMatchObject({ ok: false, output: expect.stringContaining('still red') })
    expect(await again()).toMatchObject({ ok: true, output: expect.stringContaining('task-1 is completed') })
  })

  test('are not asked about a task that failed or was stopped', async () => {
    const completed = () => Promise.resolve('never')
    const { call } = await open({ taskHooks: hooks({ completed }) })
    await call('task_create', begin('exit 1'))
    await call('task_create', begin('sleep 75.5'))
    expect((await call('task_output', wait)).output).toContain('has failed')
    expect((await call('task_stop', { task_id: 'task-2' })).output).toContain('was stopped')
    expect(await call('task_update', { task_id: 'task-1', status: 'completed' })).toMatchObject({ ok: false })
  })

  test('that fail refuse', async () => {
    const broken = () => Promise.reject(new Error('not there'))
    const { call } = await open({ taskHooks: hooks({ created: broken }) })
    expect(await call('task_create', begin('true'))).toMatchObject({
      ok: false,
      output: expect.stringContaining('The hook could not be asked: not there'),
    })
  })
})

describe('a run with background tasks', () => {
  const messages = (history: Awaited<ReturnType<typeof scriptedRun>>['history']): readonly string[] =>
    history.flatMap((item) => (item.type === 'message' && item.role === 'developer' ? [item.text] : []))

  test('is told once between turns that a task has ended', async () => {
    const pass = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))
    const until = async function* () {
      while (!isRunning('1.13')) await pass()
      while (isRunning('1.13')) await pass()
      yield calls('exec_command', { cmd: 'sleep 0.5' }, 'b')
    }
    const { history, summary } = await scriptedRun({
      mode: 'workspace-write',
      responses: [
        () => [calls('task_create', begin('sleep 1.13'), 'a')],
        until,
        () => [calls('exec_command', { cmd: 'true' }, 'c')],
        () => [says('finished')],
      ],
    })
    expect(summary.finalMessage).toBe('finished')
    expect(messages(history)).toEqual([
      'Background tasks have ended. task_output shows their output.\n- a job: task-1 is completed: Process exited with code 0.',
    ])
  })

  test('is told once before it finishes which tasks would be stopped, and then stops them', async () => {
    const { history, summary } = await scriptedRun({
      mode: 'workspace-write',
      responses: [
        () => [calls('task_create', begin('sleep 76.5'), 'a')],
        () => [says('finished')],
        () => [says('finished all the same')],
      ],
    })
    expect(summary.finalMessage).toBe('finished all the same')
    expect(messages(history)).toEqual([
      'Background tasks are stopped when you finish. Wait with task_output for what you need.\n- a job: task-1 is running.',
    ])
    expect(processesWith('sleep 76.5')).toEqual([])
  })

  test('is not told about a task whose end it has seen', async () => {
    const { history } = await scriptedRun({
      mode: 'workspace-write',
      responses: [
        () => [calls('task_create', begin('true'), 'a'), calls('task_output', wait, 'b')],
        () => [says('finished')],
      ],
    })
    expect(messages(history)).toEqual([])
    expect(resultsIn(history)[1]?.[1]).toContain('task-1 is completed')
  })
})
