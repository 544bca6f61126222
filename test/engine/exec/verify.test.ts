import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const cmd = (text: string): Reply => [call('exec_command', { cmd: text })]
const done: Reply = [say('done')]

const verifications = ({ events }: Exec) =>
  events.flatMap((event) => (event.type === 'item.completed' && event.item.type === 'verification' ? [event.item] : []))
const input = ({ requests }: Exec, index: number): string => JSON.stringify(requests[index]?.body)

describe.skipIf(needsBubblewrap())('--verify', () => {
  test('runs each command when the model is done, and reports the results', async () => {
    const cwd = repository()
    const ended = await exec(
      [cmd('echo 1 > made'), done],
      ['--json', '--verify', 'grep 1 made', '--verify', 'echo two', 'x'],
      { cwd },
    )
    expect(ended.code).toBe(0)
    expect(ended.requests).toHaveLength(2)
    expect(ended.events[0]).toMatchObject({
      config: { verify: { commands: ['grep 1 made', 'echo two'], attempts: 2 } },
    })
    expect(verifications(ended)).toMatchObject([
      { command: 'grep 1 made', attempt: 1, aggregated_output: '1\n', exit_code: 0, status: 'completed' },
      { command: 'echo two', attempt: 1, aggregated_output: 'two\n', exit_code: 0, status: 'completed' },
    ])
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.completed',
      verified: [
        { command: 'grep 1 made', passed: true, exit_code: 0, attempts: 1 },
        { command: 'echo two', passed: true, exit_code: 0, attempts: 1 },
      ],
    })
    expect(ended.stderr).toContain('verify: grep 1 made: passed')
  })

  test('tells the model what failed, and the model continues until it passes', async () => {
    const cwd = repository()
    const ended = await exec(
      [done, cmd('echo good > made'), [say('mended')]],
      ['--json', '--verify', 'cat made || { echo "made is missing"; exit 7; }', 'x'],
      { cwd },
    )
    expect([ended.code, ended.requests.length]).toEqual([0, 3])
    expect(input(ended, 0)).not.toContain('made is missing')
    expect(input(ended, 1)).toContain('made is missing')
    expect(input(ended, 1)).toContain('Process exited with code 7')
    expect(verifications(ended)).toMatchObject([
      { attempt: 1, exit_code: 7, status: 'failed' },
      { attempt: 2, exit_code: 0, status: 'completed' },
    ])
    expect(ended.events.at(-1)).toMatchObject({ verified: [{ passed: true, attempts: 2 }] })
  })

  test('that keeps failing fails the run with exit code 1, after the model was told twice', async () => {
    const ended = await exec([done, done, done], ['--json', '--verify', 'false', '--verify', 'true', 'x'], {
      cwd: repository(),
    })
    expect([ended.code, ended.requests.length]).toEqual([1, 3])
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'failed',
      error: {
        message:
          'The --verify commands still failed after the model was told about the failures 2 times: `false` (exit code 1).',
      },
      verified: [
        { command: 'false', passed: false, exit_code: 1, attempts: 3 },
        { command: 'true', passed: true },
      ],
    })
    expect(input(ended, 1)).not.toContain('the run has failed')
    expect(input(ended, 2)).toContain('the run has failed')
    expect(ended.stderr).toContain('verify: false: failed with exit code 1 (run 3 times)')
  })

  test.each([
    ['no-such-program -q', ['no-such-program']],
    ['cd . && env A=1 no-such-program | no-such-other', ['no-such-other', 'no-such-program']],
  ])('%j, which no sandbox has, ends the run at once', async (command, names) => {
    const ended = await exec([done], ['--json', '--verify', command, 'x'], { cwd: repository() })
    expect([ended.code, ended.requests.length, verifications(ended).length]).toEqual([1, 1, 1])
    const { error } = ended.events.at(-1) as { readonly error?: { readonly message: string } }
    expect(error?.message).toContain(`--verify \`${command}\` could not start: `)
    for (const name of names) expect(error?.message).toContain(name)
    expect(error?.message).toContain("can't be found in the sandbox")
  })

  test.each(['./made', 'made() { ./made; }; made', 'sh -c ./made'])(
    '%j, which the run can make, is tried again',
    async (command) => {
      const made = cmd("printf '#!/bin/sh\\ntrue' > made; chmod +x made")
      const ended = await exec([done, made, done], ['--json', '--verify', command, '--allow-weakening', 'made', 'x'], {
        cwd: repository(),
      })
      expect([ended.code, ended.requests.length]).toEqual([0, 3])
      expect(verifications(ended)).toMatchObject([{ exit_code: 127 }, { exit_code: 0 }])
    },
  )

  test('shows the model the beginning and end of a long output, and stores all of it', async () => {
    const ended = await exec(
      [done, done],
      ['--json', '--verify', 'echo first; seq 100000; echo last; exit 1', '--verify-attempts', '1', 'x'],
      { cwd: repository() },
    )
    expect(ended.code).toBe(1)
    const told = input(ended, 1)
    expect([told.includes('first'), told.includes('last'), told.length < 300_000]).toEqual([true, true, true])
    const [item] = verifications(ended)
    expect(item?.aggregated_output.length).toBeLessThan(10_000)
    expect(readFileSync(item?.output_file ?? '', 'utf8')).toContain('\n54321\n')
  })

  test('with 0 attempts continues until the budget ends, and is refused without a budget', async () => {
    const args = ['--json', '--verify', 'false', '--verify-attempts', '0']
    const ended = await exec([done, done, done, done, done], [...args, '--max-turns', '5', 'x'], { cwd: repository() })
    expect([ended.code, ended.requests.length, verifications(ended).length]).toEqual([4, 5, 5])
    const refused = await exec([done], [...args, 'x'], { cwd: repository() })
    expect([refused.code, refused.requests.length]).toEqual([2, 0])
    expect(refused.stdout).toContain(
      '--verify-attempts 0 lets the model try until a budget is used up, but no budget is set',
    )
  })

  test('needs no approval, and is confined like every command', async () => {
    const outside = tempDir()
    const ended = await exec(
      [done],
      ['--json', '--ask-for-approval', 'untrusted', '--verify', `touch ${outside}/made; rm -rf ./x; touch ok`, 'x'],
      { cwd: repository() },
    )
    expect([ended.code, existsSync(join(outside, 'made'))]).toEqual([0, false])
    expect(verifications(ended)).toMatchObject([{ verdict: { decision: 'allow', decided_by: '--verify' } }])
  })

  test('that a rule forbids fails the run before a model is asked', async () => {
    const rules = `prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "Ask a person.")\n`
    const ended = await exec([done], ['--verify', 'git push origin main', 'x'], {
      cwd: repository(),
      home: tempDir({ '.config/portcullis/rules/team.rules': rules }),
    })
    expect([ended.code, ended.requests.length]).toEqual([2, 0])
    expect(ended.stderr).toContain("--verify can't run `git push origin main`: Ask a person.")
    expect(ended.stderr).toContain('team.rules:1')
  })

  test('is stored with the session: resume uses the same commands, unless told otherwise', async () => {
    const [cwd, home] = [repository(), tempDir()]
    const resume = (...args: readonly string[]) =>
      exec([done, done, done], ['resume', '--last', '--json', ...args, 'on'], { cwd, home })
    await exec([done], ['--verify', 'echo kept', '--verify-attempts', '1', 'x'], { cwd, home })
    const kept = await resume()
    expect(verifications(kept)).toMatchObject([{ command: 'echo kept', aggregated_output: 'kept\n' }])
    expect(kept.events[0]).toMatchObject({ config: { verify: { commands: ['echo kept'], attempts: 1 } } })
    expect(verifications(await resume('--verify', 'echo other')).map(({ command }) => command)).toEqual(['echo other'])
    expect(verifications(await resume('--no-verify'))).toEqual([])
    expect(verifications(await resume())).toEqual([])
  })

  test('can be set in the user’s configuration, but not in a repository', async () => {
    const cwd = repository({ '.portcullis/config.toml': 'verify = ["echo theirs"]\n' })
    const home = tempDir({ '.config/portcullis/config.toml': 'verify = ["echo mine"]\nverify_attempts = 1\n' })
    const run = (...args: readonly string[]) => exec([done], ['--json', ...args, 'x'], { cwd, home })
    const ended = await run()
    expect(verifications(ended).map(({ command }) => command)).toEqual(['echo mine'])
    expect(ended.events[0]).toMatchObject({ config: { verify: { attempts: 1 } } })
    expect(verifications(await run('--no-verify'))).toEqual([])
  })

  test('of white space, in the configuration, is refused before a model is asked, because it would check nothing', async () => {
    const home = tempDir({ '.config/portcullis/config.toml': 'verify = ["true", " "]\n' })
    const ended = await exec([done], ['x'], { cwd: repository(), home })
    expect([ended.code, ended.requests.length, ended.stderr]).toEqual([2, 0, expect.stringContaining('is blank')])
  })

  test('also applies after a tool delivered the result: the model delivers again', async () => {
    const schema = join(
      tempDir({ 's.json': '{"type":"object","properties":{"n":{"type":"number"}},"required":[]}' }),
      's.json',
    )
    const deliver = (n: number): Reply => [call('structured_output', { n })]
    const ended = await exec(
      [deliver(1), cmd('touch made'), deliver(2)],
      ['--json', '--output-schema', schema, '--verify', 'test -e made', 'x'],
      { cwd: repository() },
    )
    expect([ended.code, ended.requests.length]).toEqual([0, 3])
    expect(verifications(ended).map(({ exit_code: code }) => code)).toEqual([1, 0])
    const messages = ended.events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'agent_message' ? [event.item.text] : [],
    )
    expect(messages).toEqual(['{"n":1}', '{"n":2}'])
  })

  test('runs nothing if the run ends in another way, or only plans', async () => {
    const ended = await exec([cmd('true'), done], ['--json', '--max-turns', '1', '--verify', 'true', 'x'], {
      cwd: repository(),
    })
    expect([ended.code, verifications(ended).length]).toEqual([4, 0])
    const planned = await exec([done], ['--json', '--plan', '--verify', 'false', 'x'], { cwd: repository() })
    expect([planned.code, verifications(planned).length]).toEqual([0, 0])
  })

  test('that fails lands nothing of a transaction, and sees the run’s changes', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const run = (verify: string) =>
      exec([cmd('echo b > a.txt'), done], ['--verify-attempts', '0', '--max-turns', '2', '--verify', verify, 'x'], {
        cwd,
      })
    expect((await run('! grep b a.txt')).code).toBe(4)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('a\n')
    expect((await run('grep b a.txt && echo more >> a.txt')).code).toBe(0)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\nmore\n')
  })

  test('is in reports: as JUnit test cases, and as a list in the page and in Markdown', async () => {
    const out = tempDir()
    const files = ['page.html', 'text.md', 'junit.xml'].map((name) => join(out, name))
    const reports = files.flatMap((file) => ['--report', file])
    await exec(
      [done, done],
      [...reports, '--verify-attempts', '1', '--verify', 'echo "1 < 2"; exit 3', '--verify', 'true', 'x'],
      {
        cwd: repository(),
      },
    )
    const [page = '', text = '', junit = ''] = files.map((file) => readFileSync(file, 'utf8'))
    expect(junit).toMatch(
      /<testcase classname="agent exec" name="verify: echo &quot;1 &lt; 2&quot;; exit 3" time="[\d.]+">\n\s*<failure message="failed with exit code 3 in [^"]*" type="failure">[^<]*1 &lt; 2/,
    )
    expect(junit).toMatch(/name="verify: true" time="[\d.]+"\/>/)
    expect(junit).toMatch(/<testsuite name="agent exec" tests="5" failures="2" errors="0" time="[\d.]+" skipped="0">/)
    expect(page).toContain('<code>echo &quot;1 &lt; 2&quot;; exit 3</code> failed with exit code 3')
    expect(text).toMatch(/\*\*Verified\*\*\n\n- echo .*: failed with exit code 3 .*\n- true: passed/)
    const cut = join(out, 'cut.xml')
    await exec([cmd('true')], ['--report', cut, '--max-turns', '1', '--verify', 'true', 'x'], { cwd: repository() })
    expect(readFileSync(cut, 'utf8')).toMatch(/name="verify: true" time="0.000">\n\s*<skipped>not run/)
  })
})
