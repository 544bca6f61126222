import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const endless = (index: number): Reply => ({
  say: [call('exec_command', { cmd: `echo ${index} >> log` })],
  usage: { input: 90, output: 10 },
})

describe.skipIf(needsBubblewrap())('a budget that runs out ends the run with exit code 4 and says which', () => {
  test('--max-turns counts responses of the model', async () => {
    const { code, events, requests } = await exec(endless, ['--json', '--max-turns', '3', 'x'], { cwd: repository() })
    expect(code).toBe(4)
    expect(requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'budget',
      exit_code: 4,
      error: { message: 'The budget is used up: 3 turns (--max-turns 3).' },
    })
    expect(events.filter((event) => event.type === 'item.completed')).toHaveLength(3)
  })

  test('with a --max-tokens too small for one answer, no request is sent', async () => {
    const { code, requests, stderr } = await exec(endless, ['--max-tokens', '250', 'x'], { cwd: repository() })
    expect(code).toBe(4)
    expect(requests).toHaveLength(0)
    expect(stderr).toContain('0 tokens have been used (--max-tokens 250), and the request could use')
  })

  test('--timeout also ends a running command', async () => {
    const cwd = repository()
    const { code, events } = await exec(
      [[call('exec_command', { cmd: 'sleep 60; touch survived' })], [say('never')]],
      ['--json', '--timeout', '1', 'x'],
      { cwd },
    )
    expect(code).toBe(4)
    expect(events.at(-1)).toMatchObject({ error: { message: 'The budget is used up: the run took 1 s (--timeout).' } })
    expect(existsSync(join(cwd, 'survived'))).toBe(false)
  })

  test('--timeout ends a provider that never answers', async () => {
    const { code } = await exec(['silence'], ['--timeout', '1', 'x'], { cwd: repository() })
    expect(code).toBe(4)
  })
})

test.each(['2147484', '2200000', '9000000000000'])(
  '--timeout %s, more than a timer takes, does not end the run at once',
  async (seconds) => {
    const args = ['--timeout', seconds, '-s', 'danger-full-access', 'x']
    const { code, stdout, stderr } = await exec([[say('ok')]], args, { cwd: repository() })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ok\n' })
    expect(stderr).not.toContain('TimeoutOverflowWarning')
  },
)

test('a run within its budget ends normally', async () => {
  const { code } = await exec([[say('ok')]], ['--max-turns', '1', '-s', 'danger-full-access', 'x'], {
    cwd: repository(),
  })
  expect(code).toBe(0)
})

test.each(['0', '-1', '1.5', 'many'])('--max-turns %s is refused', async (value) => {
  const ended = await agent(['exec', `--max-turns=${value}`, 'x'], { cwd: tempDir(), home: tempDir() })
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain('expected a whole number above 0')
})
