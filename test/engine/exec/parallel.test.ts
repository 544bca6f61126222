import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

describe.skipIf(needsBubblewrap())('calls beside each other', () => {
  test('a run killed in the middle of them continues with every call answered, and repeats none', async () => {
    const home = tempDir()
    const cwd = repository({ 'a.txt': 'one\n' })
    const first = await exec(
      [
        [
          call('exec_command', { cmd: 'echo ran >> log' }),
          call('exec_command', { cmd: 'sleep 60' }),
          call('exec_command', { cmd: 'cat a.txt' }),
          call('exec_command', { cmd: 'echo never >> log' }),
        ],
      ],
      ['--json', 'x'],
      {
        cwd,
        home,
        onStart: (child) => {
          child.stdout?.on('data', (text: string) => {
            if (text.includes('"aggregated_output":"one\\n"')) child.kill('SIGKILL')
          })
        },
      },
    )
    expect(first.signal).toBe('SIGKILL')
    const [id = ''] = readdirSync(join(home, '.local/state/portcullis/sessions'))
    const second = await exec([[say('ok')]], ['resume', id, 'go on'], { cwd, home })
    expect(second.code).toBe(0)
    const { input } = second.requests[0]?.body as { input: readonly Record<string, unknown>[] }
    const outputs = input.filter(({ type }) => type === 'function_call_output').map(({ output }) => String(output))
    expect(outputs).toEqual([
      expect.stringContaining('exited with code 0'),
      ...Array.from({ length: 3 }, () => expect.stringContaining('interrupted before this call had a result')),
    ])
    expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('ran\n')
  })

  test('after a failed command only read-only calls are made, and the model is told why', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const run = (cmd: string) => call('exec_command', { cmd })
    const replies = [[run('touch b; exit 3'), run('touch c'), run('cat a.txt')], [run('touch d')], [say('ok')]]
    const { requests } = await exec(replies, ['x'], { cwd })
    const { input } = requests[1]?.body as { input: readonly Record<string, unknown>[] }
    const outputs = input.filter(({ type }) => type === 'function_call_output').map(({ output }) => String(output))
    expect(outputs).toEqual([
      expect.stringContaining('exited with code 3'),
      'Not run, because an earlier command in the same response failed. Look at that failure first; call again if you still need this.',
      expect.stringContaining('one'),
    ])
    expect(['b', 'c', 'd'].map((name) => existsSync(join(cwd, name)))).toEqual([true, false, true])
  })

  test('tool_concurrency sets the number', async () => {
    const { events } = await exec(
      [['a', 'b', 'c'].map((name) => call('exec_command', { cmd: `sleep 0.2; echo ${name}` })), [say('ok')]],
      ['--json', '-c', 'tool_concurrency=1', 'x'],
      { cwd: repository() },
    )
    const kinds = events.flatMap((event) => (event.type.startsWith('item.') ? [event.type] : []))
    expect(kinds.slice(0, 6)).toEqual(Array.from({ length: 3 }, () => ['item.started', 'item.completed']).flat())
  })
})
