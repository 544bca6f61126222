import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript } from '../../support/needs.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const replies = [[call('exec_command', { cmd: 'echo from the command' })], [say('the answer')]]
const args = ['-s', 'danger-full-access', 'x']

describe('standard error of a run that is piped', () => {
  test('has plain lines', async () => {
    const { stderr, stdout } = await exec(replies, args, { cwd: repository() })
    expect(stdout).toBe('the answer\n')
    expect(stderr).toContain('✓ echo from the command · exit 0 in ')
    expect(stderr).not.toContain('\u001b')
    expect(stderr).not.toContain('\r')
  })

  test('has colour with --color always, even if NO_COLOR is set', async () => {
    const options = { cwd: repository(), env: { NO_COLOR: '1' } }
    const { stderr } = await exec(replies, ['--color', 'always', ...args], options)
    expect(stderr).toContain('\u001b[32m✓\u001b[39m echo')
  })

  test('is empty with --quiet, and only the answer is printed', async () => {
    const { stderr, stdout } = await exec(replies, ['--quiet', ...args], { cwd: repository() })
    expect({ stderr, stdout }).toEqual({ stderr: '', stdout: 'the answer\n' })
  })

  test('explains even with --quiet why a run failed', async () => {
    const { stderr, code } = await exec(replies, ['--quiet', '--max-turns', '1', ...args], { cwd: repository() })
    expect(code).toBe(4)
    expect(stderr).toMatch(/^budget used up: The budget is used up: 1 turn \(--max-turns 1\)\..*exit code 4\n$/)
  })

  test('has the whole output of a command with --verbose', async () => {
    const { stderr } = await exec(replies, ['--verbose', ...args], { cwd: repository() })
    expect(stderr).toContain('\n    from the command\n')
  })

  test('can’t be both quiet and verbose', async () => {
    const { code } = await exec([], ['--quiet', '--verbose', ...args], { cwd: repository() })
    expect(code).toBe(2)
  })
})

describe.skipIf(needsBubblewrap())('how to go on with the session', () => {
  const resumable = /\n {2}session: ([0-9a-f-]{36}) · to continue: agent exec resume ([0-9a-f]{12})\n$/

  test('is printed at the end, and works as printed', async () => {
    const [cwd, home] = [repository(), tempDir()]
    const first = await exec(replies, args, { cwd, home })
    const [, id = '', end = ''] = resumable.exec(first.stderr) ?? []
    expect(id.endsWith(end)).toBe(true)
    const second = await exec([[say('again')]], ['resume', end, '--json', 'go on'], { cwd, home })
    expect(second.events[0]).toMatchObject({ type: 'thread.started', thread_id: id })
  })

  test('is printed after a failed run', async () => {
    const { stderr, code } = await exec(replies, ['--max-turns', '1', ...args], { cwd: repository() })
    expect(code).toBe(4)
    expect(stderr).toMatch(resumable)
  })

  test('is printed after one Ctrl-C and after two', async () => {
    const sleeping = [[call('exec_command', { cmd: 'trap "" TERM INT; echo on its way; sleep 60' })]]
    for (const signals of [1, 2]) {
      let sent = 0
      const { stderr, code } = await exec(sleeping, args, {
        cwd: repository(),
        onStart: (child) =>
          child.stderr?.on('data', (text: string) => {
            if (sent > 0 || !text.includes('$ trap')) return
            for (; sent < signals; sent++) child.kill('SIGINT')
          }),
      })
      expect(code).toBe(130)
      expect(stderr).toContain('to continue: agent exec resume ')
    }
  })

  test('is not printed if nothing is stored', async () => {
    const { stderr } = await exec(replies, ['--ephemeral', ...args], { cwd: repository() })
    expect(stderr).not.toContain('resume')
  })
})

test('in piped output, a command is announced before it has ended', async () => {
  const waiting = [[call('exec_command', { cmd: 'until [ -e go ]; do sleep 0.1; done' })], [say('it did')]]
  const cwd = repository()
  const { stderr } = await exec(waiting, args, {
    cwd,
    onStart: (child) =>
      child.stderr?.on('data', (text: string) => {
        if (text.includes('$ until [ -e go ]')) writeFileSync(join(cwd, 'go'), '')
      }),
  })
  expect(stderr).toContain('✓ until [ -e go ]')
})

const atTerminal = needsScript() ? test.skip : test
atTerminal('a terminal shows what the running command prints while it runs', async () => {
  const waiting = [[call('exec_command', { cmd: 'echo key $((40 + 2)) of it; sleep 2' })], [say('it did')]]
  const { shown } = await execAtTerminal(waiting, args, [], { cwd: repository() })
  expect(shown).toContain('  key 42 of it')
  expect(shown).toMatch(/✓ echo key .* · exit 0/)
  // Once the command has ended, its output is no longer shown, because `--verbose` is not among the arguments.
  expect(shown.slice(shown.lastIndexOf('✓ echo key'))).not.toContain('key 42')
})
