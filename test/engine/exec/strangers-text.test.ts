import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, type AgentOptions } from '../../support/agent.ts'
import { controlling, obeyed } from '../../support/ci-runners.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript } from '../../support/needs.ts'
import { agentAtTerminal, execAtTerminal } from '../../support/terminal.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

/** Text that would control a terminal, fake a line of ours, or be executed by the runner of a CI job. */
const hostile = [
  '##vso[task.setvariable variable=PATH]evil',
  '::add-mask::a',
  '  ::stop-commands::x',
  "text ##teamcity[buildStatus status='SUCCESS']",
  '##[group]x',
  '\u001b]52;c;cm0gLXJm\u0007\u001b[2Jcleared\u202egnp.exe',
  'agent: FAKE: exit code 0',
].join('\n')
/** The same in a file's name. */
const name = hostile.replaceAll('/', '_').slice(0, 200)
const ci = { CI: 'true', GITHUB_ACTIONS: 'true', TF_BUILD: 'True' }

/** What holds for everything that we print for a person. */
function expectHarmless(shown: string): void {
  expect(obeyed(shown)).toEqual([])
  expect(shown).not.toMatch(controlling)
  expect(shown).not.toMatch(/^agent: FAKE/m)
}

describe('what a stranger wrote reaches the log of a CI job as text, not as a command', () => {
  test('in the final message, and in everything else that a run prints', async () => {
    const replies = [
      [call('exec_command', { cmd: `printf '%s\\n' '${hostile.replaceAll("'", '"')}'; exit 3` })],
      [call('apply_patch', `*** Begin Patch\n*** Delete File: ##vso[task.x]y\n*** End Patch`)],
      [say(hostile)],
    ]
    const { stdout, stderr } = await exec(replies, ['-s', 'danger-full-access', '--verbose', 'x'], {
      cwd: repository(),
      env: ci,
    })
    expect(stdout).toContain('# # vso[task.setvariable')
    expect(stderr).toContain('# # teamcity[')
    expectHarmless(stdout.replace('agent: FAKE: exit code 0', ''))
    expectHarmless(stderr.replaceAll(/^\s*agent: FAKE: exit code 0$/gm, ''))
  })

  test('but a program outside of a CI gets the final message as the model wrote it', async () => {
    const { stdout } = await exec([[say(hostile)]], ['-s', 'danger-full-access', 'x'], { cwd: repository() })
    expect(stdout).toBe(`${hostile}\n`)
  })

  test('and what JSON says stays the same', async () => {
    const answer = JSON.stringify({ text: hostile })
    const cwd = repository()
    writeFileSync(
      join(cwd, 'schema.json'),
      '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}',
    )
    const options = { cwd, env: ci }
    const schema = ['-s', 'danger-full-access', '--output-schema', 'schema.json', 'x']
    const plain = await exec([[say(answer)]], schema, options)
    expect(JSON.parse(plain.stdout)).toEqual({ text: hostile })
    expectHarmless(plain.stdout)
    const events = await exec([[say(answer)]], ['--json', ...schema], options)
    expectHarmless(events.stdout)
    expect(events.events).toContainEqual(
      expect.objectContaining({ item: expect.objectContaining({ type: 'agent_message', text: answer }) }),
    )
  })

  test('in the messages about files with such names, and in all commands that show a session', async () => {
    const [home, cwd] = [tempDir(), repository({ 'a.txt': 'a\n' })]
    const options: AgentOptions = { cwd, home, env: ci }
    execFileSync('git', ['-C', cwd, '-c', 'user.name=a', '-c', 'user.email=b@c', 'commit', '-qm', 'a', '--allow-empty'])
    const script = `mkdir -p "$NAME"; echo '##vso[a]b' > "$NAME/new.txt"; echo x > "$NAME/.mcp.json"`
    const env = { ...ci, NAME: name }
    const set = ['-c', `shell_environment_policy.set={NAME=${JSON.stringify(name)}}`]
    const ran = await exec(
      [[call('exec_command', { cmd: script })], [say(hostile)]],
      ['--land', 'never', ...set, hostile],
      { ...options, env },
    )
    // The lines of the message itself are shown as they are.
    expectHarmless(ran.stderr.replace('\nagent: FAKE: exit code 0\n', ''))
    expectHarmless(ran.stdout.replace('agent: FAKE: exit code 0', ''))
    const [id = ''] = (await agent(['sessions', 'list'], options)).stdout.split(' ')
    for (const words of [
      ['sessions', 'list'],
      ['sessions', 'list', '--json'],
      ['sessions', 'export', id],
      ['sessions', 'show', 'nothing\n::error::x'],
      ['changes', id],
      ['changes', id, '--diff'],
      ['changes', id, '--json'],
      ['report', id, '--format', 'md'],
      ['report', id, '--format', 'json'],
      ['report', id, '--format', 'sarif'],
      ['report', id, '--format', 'junit'],
      ['report', id, '--format', 'html'],
      ['diff', id, id],
      ['apply', id],
      ['undo', id],
      ['discard', id],
      ['policy', 'check', '--', 'echo', hostile],
      ['policy', 'explain', '--', 'echo', hostile],
      ['policy', 'replay', id],
      ['config', 'show', ...set],
      ['config', 'show', '--json', ...set],
      ['doctor', '-C', cwd],
      ['trust', '--list'],
      ['plugins'],
      ['exec', '--no-such', hostile],
      ['exec', '-C', name, 'x'],
      [hostile],
    ]) {
      const ended = await agent(words, options)
      // A text of several lines may show a line of a stranger, for instance a line of a diff.
      const shown = `${ended.stdout}\n${ended.stderr}`
      expect([words, obeyed(shown)]).toEqual([words, []])
      expect(shown, words.join(' ')).not.toMatch(controlling)
    }
  })
})

describe.skipIf(needsBubblewrap())('agent sandbox', () => {
  test('shows a name with control characters in one line, in which a CI finds no command', async () => {
    const cwd = repository()
    mkdirSync(join(cwd, 'sub'))
    const script = 'mkdir "$1" && echo x > "$1/.mcp.json"'
    const ended = await agent(['sandbox', '--', 'sh', '-c', script, 'sh', name], { cwd, home: tempDir(), env: ci })
    expectHarmless(ended.stderr)
    const missing = await agent(['sandbox', '--', name], { cwd, home: tempDir(), env: ci })
    expect(missing.code).toBe(127)
    expectHarmless(missing.stderr)
    const json = await agent(['sandbox', '--json', '--', 'printf', '%s', hostile], { cwd, home: tempDir(), env: ci })
    expectHarmless(json.stdout)
    expect(JSON.parse(json.stdout)).toMatchObject({ stdout: hostile })
  })
})

describe.skipIf(needsScript())('on a terminal', () => {
  const foreign = /\u001b\](?!0;)|\u001b\[2J|\u202e/

  test('names, commands, outputs and messages neither control it nor turn text around', async () => {
    const replies = [
      [call('exec_command', { cmd: `printf '%s\\n' '${hostile.replaceAll("'", '"')}'; exit 3` })],
      [say(hostile)],
    ]
    const { shown } = await execAtTerminal(replies, ['-s', 'danger-full-access', '--verbose', 'x'], [], {
      cwd: repository(),
    })
    expect(shown).toContain('cleared')
    expect(shown).not.toMatch(foreign)
  })

  test('the same holds for an error that quotes an argument', async () => {
    const { shown } = await agentAtTerminal(['exec', '-C', name, 'x'], [], { cwd: tempDir() })
    expect(shown).toContain('cleared')
    expect(shown).not.toMatch(foreign)
  })
})
