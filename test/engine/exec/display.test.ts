import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
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

  test('has colour where --color says always, also against NO_COLOR', async () => {
    const options = { cwd: repository(), env: { NO_COLOR: '1' } }
    const { stderr } = await exec(replies, ['--color', 'always', ...args], options)
    expect(stderr).toContain('\u001b[32m✓\u001b[39m echo')
  })

  test('is empty with --quiet, and the answer is all there is', async () => {
    const { stderr, stdout } = await exec(replies, ['--quiet', ...args], { cwd: repository() })
    expect({ stderr, stdout }).toEqual({ stderr: '', stdout: 'the answer\n' })
  })

  test('says with --quiet why a run failed', async () => {
    const { stderr, code } = await exec(replies, ['--quiet', '--max-turns', '1', ...args], { cwd: repository() })
    expect(code).toBe(4)
    expect(stderr).toMatch(/^budget used up: The budget is used up: 1 of --max-turns 1\./)
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
