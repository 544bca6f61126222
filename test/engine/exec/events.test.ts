import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Item, RunEvent } from '../../../engine/core/events.ts'
import { call, freeform, say, think, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const patch = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

const completed = (events: readonly RunEvent[]): readonly Item[] =>
  events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))

describe.skipIf(needsBubblewrap())('agent exec --json', () => {
  test('reports a whole run in the events of codex exec', async () => {
    const cwd = repository({ 'a.txt': 'one\ntwo\n' })
    const { code, events } = await exec(
      [
        {
          say: [think('look first'), call('exec_command', { cmd: 'cat a.txt; exit 3' })],
          usage: { input: 100, cached: 10, output: 20, reasoning: 5 },
        },
        {
          say: [
            freeform('apply_patch', patch('*** Update File: a.txt', '@@', '-two', '+2', '*** Add File: b.txt', '+b')),
          ],
          usage: { input: 200, cached: 20, output: 40, reasoning: 10 },
        },
        { say: [say('all done')], usage: { input: 300, output: 60 } },
      ],
      ['--json', 'do it'],
      { cwd },
    )
    expect(code).toBe(0)
    expect(events.map(({ type }) => type)).toEqual([
      'thread.started',
      'turn.started',
      'item.completed',
      'item.started',
      'item.completed',
      'item.started',
      'item.completed',
      'item.completed',
      'turn.completed',
    ])
    expect(events[0]).toMatchObject({ thread_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/) })
    expect(completed(events)).toMatchObject([
      { id: 'item_0', type: 'reasoning', text: 'look first' },
      {
        id: 'item_1',
        type: 'command_execution',
        command: `/bin/bash -c 'cat a.txt; exit 3'`,
        aggregated_output: 'one\ntwo\n',
        exit_code: 3,
        status: 'failed',
      },
      {
        id: 'item_2',
        type: 'file_change',
        changes: [
          { path: join(cwd, 'a.txt'), kind: 'update' },
          { path: join(cwd, 'b.txt'), kind: 'add' },
        ],
        status: 'completed',
      },
      { id: 'item_3', type: 'agent_message', text: 'all done' },
    ])
    expect(events[3]).toMatchObject({
      item: { id: 'item_1', aggregated_output: '', exit_code: null, status: 'in_progress' },
    })
    expect(events.at(-1)).toMatchObject({
      usage: {
        input_tokens: 600,
        cached_input_tokens: 30,
        cache_write_input_tokens: 0,
        output_tokens: 120,
        reasoning_output_tokens: 15,
      },
    })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n2\n')
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('b\n')
  })

  test('adds to each command where it ran and who allowed it', async () => {
    const { events } = await exec([[call('exec_command', { cmd: 'true' })], [say('ok')]], ['--json', 'x'], {
      cwd: repository(),
    })
    expect(completed(events)[0]).toMatchObject({
      sandbox: 'bubblewrap',
      duration_ms: expect.any(Number),
      verdict: { decision: 'allow', decided_by: expect.any(String), reason: expect.any(String) },
    })
  })

  test('gives a call of an unknown tool, of broken JSON and of wrong arguments an item and an answer each', async () => {
    const { code, events, requests } = await exec(
      [
        [call('no_such_tool', {}), call('exec_command', '{"cmd": '), call('exec_command', { command: 'ls' })],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd: repository() },
    )
    expect(code).toBe(0)
    expect(completed(events).slice(0, 3)).toMatchObject([
      { type: 'tool_call', tool: 'no_such_tool', status: 'failed', error: expect.stringContaining('The tools are: ') },
      { type: 'tool_call', tool: 'exec_command', status: 'failed', error: expect.stringContaining('not JSON') },
      { type: 'tool_call', tool: 'exec_command', status: 'failed', error: expect.stringContaining('cmd') },
    ])
    expect(JSON.stringify(requests[1]?.body)).toContain('The tools are: ')
  })

  test('a patch that was repaired, or needs attention, has notes in its event, in the summary, and in the report', async () => {
    const cwd = repository({ 'a.txt': '  one\n' })
    const report = join(tempDir(), 'report.html')
    const text = patch('*** Update File: a.txt', '@@ -1,1 +1,1 @@', '-one', '+1', '', '*** Add File: b.txt', '+b')
    const replies: readonly Reply[] = [[freeform('apply_patch', text)], [say('done')]]
    const { events, requests } = await exec(replies, ['--json', '--report', report, 'x'], { cwd })
    const markdown = join(tempDir(), 'report.md')
    const { stderr } = await exec(replies, ['--report', markdown, 'x'], { cwd: repository({ 'a.txt': '  one\n' }) })
    const [item] = completed(events)
    const notes = [expect.stringContaining('line numbers'), expect.stringMatching(/indentation|white space/i)]
    expect(item).toMatchObject({ type: 'file_change', status: 'completed', notes })
    for (const note of (item as { notes: readonly string[] }).notes) {
      expect(JSON.stringify(requests[1]?.body)).toContain(`Note: ${note.slice(0, 30)}`)
      expect(stderr).toContain(`patch note: ${note.slice(0, 30)}`)
      expect(readFileSync(report, 'utf8')).toContain(note.slice(0, 30))
      expect(readFileSync(markdown, 'utf8')).toMatch(/Noted in the patch to .*\n.*line numbers.*\n.*indentation/)
    }
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', patch_notes: notes })
  })

  test('a patch that fits two places is refused, and the model is told which', async () => {
    const cwd = repository({ 'a.txt': 'x\none\nx\n' })
    const text = patch('*** Update File: a.txt', '@@', '-x', '+y')
    const { events, requests } = await exec([[freeform('apply_patch', text)], [say('done')]], ['--json', 'x'], { cwd })
    const error = expect.stringContaining('fits at lines 1, 3; add lines of context')
    expect(completed(events)[0]).toMatchObject({ type: 'file_change', status: 'failed', error })
    expect(JSON.stringify(requests[1]?.body)).toContain('fits at lines 1, 3')
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('x\none\nx\n')
  })

  test('an empty file change says why a patch did not apply, and no file changed', async () => {
    const cwd = repository({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
    const { code, events } = await exec(
      [
        [
          freeform(
            'apply_patch',
            patch('*** Update File: a.txt', '@@', '-one', '+1', '*** Update File: b.txt', '@@', '-nowhere', '+2'),
          ),
        ],
        [say('could not')],
      ],
      ['--json', 'x'],
      { cwd },
    )
    expect(code).toBe(0)
    expect(completed(events)[0]).toMatchObject({
      type: 'file_change',
      status: 'failed',
      error: expect.stringContaining('Failed to find expected lines'),
    })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n')
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('two\n')
  })

  test('every line stays under 64 KiB, whatever a command prints, and names the file with the full output', async () => {
    const cmd = `head -c 3000000 /dev/urandom; echo the end`
    const { stdout, events } = await exec([[call('exec_command', { cmd })], [say('ok')]], ['--json', 'x'], {
      cwd: repository(),
    })
    for (const line of stdout.split('\n')) expect(Buffer.byteLength(line)).toBeLessThan(64 * 1024)
    const item = completed(events)[0] as Extract<Item, { type: 'command_execution' }>
    expect(item.aggregated_output).toMatch(
      /left out (?:after|from within) line \d+; the whole output is in .*[^]*the end\n$/,
    )
  })
})

describe.skipIf(needsBubblewrap())('agent exec', () => {
  test('prints the final message alone on standard output', async () => {
    const { stdout, stderr, code } = await exec(
      [[say('first I look'), call('exec_command', { cmd: 'echo noise' })], [say('the answer')]],
      ['x'],
      { cwd: repository() },
    )
    expect(code).toBe(0)
    expect(stdout).toBe('the answer\n')
    expect(stderr).toContain('echo noise')
  })

  test('-o writes the final message to a file', async () => {
    const cwd = repository()
    await exec([[say('the answer')]], ['-o', 'last.md', 'x'], { cwd })
    expect(readFileSync(join(cwd, 'last.md'), 'utf8')).toBe('the answer')
  })

  test('offers the model exec_command as a function and apply_patch as a freeform tool with its grammar', async () => {
    const { requests } = await exec([[say('ok')]], ['x'], { cwd: repository() })
    const { tools } = requests[0]?.body as { tools: readonly Record<string, unknown>[] }
    expect(tools).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'custom',
          name: 'apply_patch',
          format: expect.objectContaining({ type: 'grammar', syntax: 'lark' }),
        }),
        expect.objectContaining({
          type: 'function',
          name: 'exec_command',
          parameters: expect.objectContaining({ required: ['cmd'] }),
        }),
      ]),
    )
  })

  test('the key appears in no output, no session file and no command', async () => {
    const { stdout, stderr } = await exec(
      [[call('exec_command', { cmd: 'env; cat /proc/1/environ /proc/self/environ | tr "\\0" "\\n"' })], [say('ok')]],
      ['--json', 'x'],
      { cwd: repository() },
    )
    expect(stdout + stderr).not.toContain('sk-test-key')
  })

  test('the tool shell with an argument vector is understood, and apply_patch in it is treated as a patch', async () => {
    const cwd = repository()
    const script = `apply_patch <<'EOF'\n${patch('*** Add File: typed.txt', '+typed')}EOF\n`
    const { events } = await exec(
      [
        [
          call('shell', { command: ['echo', 'a b'] }),
          call('shell', { command: ['bash', '-lc', script] }),
          call('exec_command', { cmd: script.replace('typed.txt', 'again.txt') }),
        ],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd },
    )
    expect(completed(events)).toMatchObject([
      { type: 'command_execution', command: `echo 'a b'`, aggregated_output: 'a b\n' },
      { type: 'file_change', status: 'completed' },
      { type: 'file_change', status: 'completed' },
      { type: 'agent_message' },
    ])
    expect(readFileSync(join(cwd, 'typed.txt'), 'utf8')).toBe('typed\n')
    expect(readFileSync(join(cwd, 'again.txt'), 'utf8')).toBe('typed\n')
  })

  test('a command that runs too long is killed, and the model is told so', async () => {
    const { events, requests } = await exec(
      [[call('exec_command', { cmd: 'sleep 60', timeout_ms: 300 })], [say('ok')]],
      ['--json', 'x'],
      { cwd: repository() },
    )
    expect(completed(events)[0]).toMatchObject({ status: 'failed', exit_code: null, ended_by: 'timeout' })
    expect(JSON.stringify(requests[1]?.body)).toContain('ran longer than 300 ms')
  })

  test('a missing directory is named', async () => {
    const cwd = repository()
    const { requests } = await exec([[call('exec_command', { cmd: 'ls', workdir: 'gone' })], [say('ok')]], ['x'], {
      cwd,
    })
    expect(JSON.stringify(requests[1]?.body)).toContain(join(cwd, 'gone'))
  })

  test('unknown arguments are named, not dropped silently', async () => {
    const { requests } = await exec(
      [[call('exec_command', { cmd: 'echo hi', shell: '/bin/zsh', colour: true })], [say('ok')]],
      ['x'],
      { cwd: repository() },
    )
    expect(JSON.stringify(requests[1]?.body)).toContain('Ignored unknown arguments: shell, colour')
  })
})
