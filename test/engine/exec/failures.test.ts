import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

describe('bad input is one clear message, the documented exit code, and nothing written', () => {
  const home = (config: string): string => tempDir({ '.config/portcullis/config.toml': config })
  const recording = (text: string): string => join(tempDir({ 'r.jsonl': text }), 'r.jsonl')

  test.each<readonly [string, () => readonly string[], RegExp, string]>([
    ['no prompt', () => ['-m', 'gpt-5.5'], /No prompt /, ''],
    ['a blank prompt', () => ['-m', 'gpt-5.5', '  '], /No prompt\. Give one/, ''],
    ['an unknown flag', () => ['--frobnicate', 'x'], /unknown option '--frobnicate'/, ''],
    ['an unknown sandbox mode', () => ['-s', 'none', 'x'], /Allowed choices are read-only/, ''],
    ['an unknown approval mode', () => ['--ask-for-approval', 'maybe', 'x'], /Allowed choices are untrusted/, ''],
    ['two prompts', () => ['x', 'y'], /too many arguments/, ''],
    ['an unknown model', () => ['-m', 'claude9', 'x'], /claude9/, ''],
    ['a missing key', () => ['-m', 'gpt-5.5', 'x'], /OPENAI_API_KEY/, ''],
    ['a missing recording', () => ['-m', 'replay:gone.jsonl', 'x'], /gone\.jsonl/, ''],
    ['a recording that is not JSON', () => ['-m', `replay:${recording('nope\n')}`, 'x'], /r\.jsonl:1/, ''],
    ['a session that is not there', () => ['resume', '00000000', 'x'], /00000000/, ''],
    ['a schema that is not there', () => ['--output-schema', 'gone.json', 'x'], /gone\.json/, ''],
    ['a setting without a value', () => ['-c', 'model', 'x'], /expected key=value/, ''],
    ['an unknown setting', () => ['-c', 'modle=x', 'x'], /unknown key 'modle'; did you mean 'model'\?/, ''],
    ['a wrong setting', () => ['-c', 'sandbox_mode=off', 'x'], /key 'sandbox_mode'/, ''],
    ['a directory that is not there', () => ['-C', '/no/such/dir', 'x'], /-C \/no\/such\/dir: no such directory/, ''],
    [
      'an output file that cannot be written',
      () => ['-o', '/no/such/dir/f', 'x'],
      /-o \/no\/such\/dir\/f: can't be written/,
      '',
    ],
    ['broken TOML', () => ['x'], /config\.toml:2:\d+: not valid TOML/, 'model = "a"\n[[[\n'],
    ['an unreadable key in the file', () => ['x'], /config\.toml:1: key 'model'/, 'model = 7\n'],
  ])('%s', async (_, args, message, config) => {
    const cwd = repository()
    const place = home(config)
    const before = readdirSync(place, { recursive: true })
    const ended = await agent(['exec', ...args()], { cwd, home: place })
    expect(ended.stderr).toMatch(message)
    expect(ended.stderr).not.toMatch(/\n {4}at /)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(readdirSync(cwd)).toEqual(['.git'])
    expect(readdirSync(place, { recursive: true })).toEqual(before)
  })

  test('a directory outside any repository, unless an option allows it', async () => {
    const cwd = tempDir()
    const refused = await exec([[say('ok')]], ['x'], { cwd })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('--skip-git-repo-check')
    expect(refused.requests).toHaveLength(0)
  })
})

test.skipIf(needsBubblewrap())('--skip-git-repo-check runs outside a repository', async () => {
  expect(await exec([[say('ok')]], ['--skip-git-repo-check', 'x'], { cwd: tempDir() })).toMatchObject({ code: 0 })
})

describe.skipIf(needsBubblewrap())('a provider that refuses', () => {
  test('ends the run at once, with its message, one terminal event and exit code 6', async () => {
    const refusal = {
      status: 401,
      body: { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } },
    }
    const { code, events, requests } = await exec([refusal], ['--json', 'x'], { cwd: repository() })
    expect(code).toBe(6)
    expect(requests).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'provider',
      exit_code: 6,
      error: { message: expect.stringContaining('Incorrect API key provided') },
    })
    expect(events.filter(({ type }) => /^turn\.(completed|failed)$/.test(type))).toHaveLength(1)
  })
})

test.skipIf(needsBubblewrap())(
  'a state folder that cannot be written stops the run: what is not audited is not run',
  async () => {
    const home = tempDir({ '.local/state': 'a file where a folder should be' })
    const { code, stderr, requests } = await exec([[say('never')]], ['x'], { cwd: repository(), home })
    expect(code).toBe(2)
    expect(stderr).toContain('XDG_STATE_HOME')
    expect(requests).toHaveLength(0)
  },
)

test.skipIf(needsBubblewrap())('an open but silent standard input does not hold the run', async () => {
  const cwd = repository()
  mkdirSync(join(cwd, 'sub'))
  const { code, stdout } = await exec([[say('ok')]], ['x'], { cwd: join(cwd, 'sub'), keepStdinOpen: true })
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'ok\n' })
})

test('the schema of the events refuses what is not an event', () => {
  expect(() => eventsOf('{"type":"turn.dropped"}\n')).toThrow()
})
