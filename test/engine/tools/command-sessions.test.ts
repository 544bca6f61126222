import { describe, expect } from 'vitest'
import { loadRules, type RuleSet } from '../../../policies/index.ts'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { closeWorkingState } from '../../../engine/tools/working-state.ts'
import { openFor, processesWith, temporaryDirectory, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath, type ObservedPath } from '../../support/call-path.ts'
import { calls, says, scriptedRun } from '../../support/scripted-run.ts'

async function open(rules?: RuleSet): Promise<ObservedPath> {
  const sandbox = await openFor({ mode: 'workspace-write', workspace: await temporaryDirectory() })
  return openPath({ tools: builtInTools, sandbox, ...(rules === undefined ? {} : { rules }) })
}

/**
 * The last completed item of a command whose command line contains `words`. The words tell it apart from other commands that may end at the same
 * moment.
 */
const itemOf = ({ events }: ObservedPath, words = ''): unknown =>
  events.findLast(
    (event) =>
      event.type === 'item.completed' && event.item.type === 'command_execution' && event.item.command.includes(words),
  )

describe('a command that still runs when its call returns', () => {
  test('continues, is read from where it was, and its item is completed when it ends', async () => {
    const observed = await open()
    const { call } = observed
    const cmd = 'echo first; until [ -e go ]; do sleep 0.05; done; echo last; exit 3'
    const first = await call('exec_command', { cmd, yield_time_ms: 3000 })
    expect(first).toMatchObject({
      ok: true,
      output: expect.stringMatching(/^Process running with session ID 1\n[^]*first$/),
    })
    expect(itemOf(observed)).toBeUndefined()
    const silent = await call('write_stdin', { session_id: 1, yield_time_ms: 1 })
    expect(silent.output).toMatch(/^Process running with session ID 1\n[^]*Output:\n$/)
    await call('exec_command', { cmd: 'touch go' })
    const last = await call('write_stdin', { session_id: 1 })
    expect(last).toMatchObject({
      ok: false,
      output: expect.stringMatching(/^Process exited with code 3\n[^]*Output:\nlast$/),
    })
    expect(itemOf(observed, 'until')).toMatchObject({
      item: { aggregated_output: 'first\nlast\n', exit_code: 3, status: 'failed' },
    })
    expect(await call('write_stdin', { session_id: 1 })).toMatchObject({
      ok: false,
      output: expect.stringContaining('There is no session 1'),
    })
  })

  test('can be typed into only if it has a terminal', async () => {
    const { call } = await open()
    const waits = 'read name; echo "hello $name"'
    await call('exec_command', { cmd: waits, tty: true, yield_time_ms: 300 })
    const typed = await call('write_stdin', { session_id: 1, chars: 'you\n', yield_time_ms: 5000 })
    expect(typed.output).toContain('hello you')
    await call('exec_command', { cmd: 'sleep 60 & wait', yield_time_ms: 1 })
    const refused = await call('write_stdin', { session_id: 2, chars: 'x' })
    expect(refused).toMatchObject({ ok: false, output: expect.stringContaining('no terminal') })
    await call('kill_session', { session_id: 2 })
  })

  test('ends with control-C, and with kill_session whatever it does', async () => {
    const { call } = await open()
    await call('exec_command', { cmd: 'sleep 61', tty: true, yield_time_ms: 300 })
    const interrupted = await call('write_stdin', { session_id: 1, chars: '\u0003', yield_time_ms: 5000 })
    expect(interrupted.output).toMatch(/Process (?:exited with code 130|was killed by SIGINT)/)
    const stubborn = 'trap "" TERM INT; (setsid sleep 62.5 &) ; while :; do sleep 0.1; done'
    await call('exec_command', { cmd: stubborn, yield_time_ms: 300 })
    expect((await call('kill_session', { session_id: 2 })).output).toContain('Process was killed')
    expect(processesWith('sleep 62.5')).toEqual([])
  })

  test('is ended with the run, and so is its item', async () => {
    const { events } = await scriptedRun({
      mode: 'workspace-write',
      responses: [
        () => [calls('exec_command', { cmd: 'sleep 63.5 & wait', yield_time_ms: 1 }, 'a')],
        () => [says('done')],
        // The model is told that the command will be stopped.
        () => [says('done')],
      ],
    })
    expect(processesWith('sleep 63.5')).toEqual([])
    const kinds = events.map((event) => event.type)
    expect(kinds.at(-1)).toBe('turn.completed')
    expect(itemOf({ events } as unknown as ObservedPath)).toMatchObject({ item: { ended_by: 'cancelled' } })
  })
})

test('the number of running commands is limited', async () => {
  const { call, path } = await open()
  for (let at = 0; at < 64; at++) {
    expect(await call('exec_command', { cmd: 'sleep 64.5', yield_time_ms: 1 })).toMatchObject({ ok: true })
  }
  expect(await call('exec_command', { cmd: 'sleep 64.5', yield_time_ms: 1 })).toMatchObject({
    ok: false,
    output: expect.stringContaining('64 commands are already running'),
  })
  await closeWorkingState(path.context.state)
  expect(processesWith('sleep 64.5')).toEqual([])
})

test('typed input is judged as the command that it may be, however it is split', async () => {
  const rules = loadRules([
    { path: 'a.rules', layer: 'user', text: 'prefix_rule(pattern=["git", "push"], decision="forbidden")' },
  ])
  const { call, path } = await open(rules)
  await call('exec_command', { cmd: 'cat', tty: true, yield_time_ms: 300 })
  const type = (chars: string): Promise<{ ok: boolean }> =>
    call('write_stdin', { session_id: 1, chars, yield_time_ms: 300 })
  expect(await type('echo fine\n')).toMatchObject({ ok: true, output: expect.stringContaining('fine') })
  expect(await type('git push\n')).toMatchObject({ ok: false, output: expect.stringContaining('Refused') })
  expect(await type('git pu')).toMatchObject({ ok: true })
  expect(await type('sh\n')).toMatchObject({ ok: false, output: expect.stringContaining('Refused') })
  // What was typed before the refusal is still in the shell.
  expect(await type('sh origin\n')).toMatchObject({ ok: false, output: expect.stringContaining('Refused') })
  await type('\u0003')
  const cutUp = [
    ['git \\\n', 'push\n'],
    ['git \\\rpush\r'],
    ['echo a &&\n', 'git push\n'],
    ['{ echo a\n', 'git push\n', '}\n'],
    ['git pusx\u007fh\n'],
    ['xx\u0015git push\n'],
    ['git\u001b[C push\n'],
    ['git push\n\u0003'],
    ['git \\\n', '\u0003', 'echo b; git push\n'],
    ['git pu\u0004', 'sh\n'],
    ['echo a\u0004git push\n'],
    ['git pu\t', 'sh\n'],
    ['\u001b[A', '\n'],
    ['\u0010\u000f'],
    ['push\u0001git \n'],
    ['\u0018\u0005'],
    ['!g\n'],
    ['^status^push\n'],
  ]
  for (const parts of cutUp) {
    const said = []
    for (const part of parts) said.push((await type(part)).ok)
    expect(said, JSON.stringify(parts)).toContain(false)
    await type('\u0003')
  }
  await closeWorkingState(path.context.state)
})

test('typed input is judged in the folders in which the shell works, or to which lines lead that it has not run yet', async () => {
  const { call, path } = await open()
  await call('exec_command', { cmd: 'bash --norc', tty: true, yield_time_ms: 500 })
  const type = async (chars: string): Promise<boolean> =>
    ((await call('write_stdin', { session_id: 1, chars, yield_time_ms: 300 })) as { readonly ok: boolean }).ok
  expect(await type('rm -rf lib\n')).toBe(true)
  // The shell is elsewhere in a way that the line doesn't show.
  expect(await type('. <(echo cd /usr)\n')).toBe(true)
  expect(await type('rm -rf lib\n')).toBe(false)
  await type('\u0003')
  expect(await type('sleep 5; cd /\n')).toBe(true)
  expect(await type('rm -rf usr\n')).toBe(false)
  await closeWorkingState(path.context.state)
})
