import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const cmd = (line: string): ReturnType<typeof call> => call('exec_command', { cmd: line })

async function session(): Promise<{
  readonly home: string
  readonly cwd: string
  readonly id: string
  readonly asked: readonly unknown[]
}> {
  const home = tempDir()
  const cwd = repository()
  const replies = [
    [cmd('echo first')],
    [cmd('echo second'), cmd('echo beside it')],
    [cmd('echo third')],
    [say('all three')],
  ]
  const { code, requests } = await exec(replies, ['the task'], { cwd, home })
  expect(code).toBe(0)
  const [id = ''] = readdirSync(join(home, '.local/state/portcullis/sessions'))
  return { home, cwd, id, asked: requests.map(({ body }) => body) }
}

const inputOf = (body: unknown): readonly unknown[] => (body as { readonly input: readonly unknown[] }).input

describe.skipIf(needsBubblewrap())('agent exec fork --at', () => {
  test('continues from a step: another model gets byte for byte what the first one got', async () => {
    const { home, cwd, id, asked } = await session()
    const forked = await exec([[say('done otherwise')]], ['fork', id, '--at', '2', '-m', 'gpt-5.4'], { cwd, home })
    expect(forked).toMatchObject({ code: 0, stdout: 'done otherwise\n' })
    expect(forked.requests).toHaveLength(1)
    const body = forked.requests[0]?.body
    expect(body).toMatchObject({ model: 'gpt-5.4' })
    expect(inputOf(body)).toEqual(inputOf(asked[2]))
  })

  test('also accepts another prompt, and leaves the session unchanged', async () => {
    const { home, cwd, id } = await session()
    const file = join(home, '.local/state/portcullis/sessions', id, 'rollout.jsonl')
    const before = readFileSync(file, 'utf8')
    const forked = await exec([[say('stopped')]], ['fork', '--at', '1', id.slice(-8), 'stop here'], { cwd, home })
    expect(forked.code).toBe(0)
    const sent = JSON.stringify(inputOf(forked.requests[0]?.body))
    expect(sent).toContain('stop here')
    expect(sent).toContain('echo first')
    expect(sent).not.toContain('echo second')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('agent sessions show numbers the steps', async () => {
    const { home, cwd, id } = await session()
    const { stdout } = await agent(['sessions', 'show', id], { cwd, home })
    expect(stdout).toMatch(
      /\nstep 1\n\n> exec_command .*first(?:.*\n)+step 2\n\n> exec_command .*second(?:.*\n)+step 4\n\nassistant: all three\n/,
    )
  })

  test.each([
    [['--at', '9'], /--at 9: the session .* has 4 steps; 'agent sessions show/],
    [['--at', '4'], /nothing to answer at that step, so the session needs a new task/],
    [['--at', '0'], /whole number above 0/],
  ])('a step that cannot be gone on from is a usage error: %j', async (args, message) => {
    const { home, cwd, id } = await session()
    const forked = await exec([[say('x')]], ['fork', id, ...args], { cwd, home })
    expect(forked).toMatchObject({ code: 2, stdout: '', requests: [] })
    expect(forked.stderr).toMatch(message)
  })
})
