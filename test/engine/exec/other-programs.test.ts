import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { startMockAnthropic } from '../../support/mock-anthropic.ts'
import { call, say, startMockOpenAI } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const own = '.config/portcullis/config.toml'

describe('import = ["codex"]', () => {
  test('sends requests to the address that Codex uses', async () => {
    const mock = await startMockOpenAI({ replies: () => [say('ok')], ids: 'x' })
    onTestFinished(() => mock.close())
    const codex = `model = "gpt-5.5"\nopenai_base_url = "${mock.baseUrl}"\nnotify = ["bell"]\n`
    const home = tempDir({ [own]: 'import = ["codex"]\n', '.codex/config.toml': codex })
    const args = ['exec', '-s', 'danger-full-access', 'x']
    const options = { cwd: repository(), home, env: { OPENAI_API_KEY: 'sk-test' } }
    const { code, stdout, stderr } = await agent(args, options)
    expect([code, stdout]).toEqual([0, 'ok\n'])
    expect(mock.requests[0]?.body).toMatchObject({ model: 'gpt-5.5' })
    expect(stderr.match(/! ignored: .*/g)).toEqual([
      `! ignored: ${home}/.codex/config.toml: notify (Codex has this setting, but Portcullis does not)`,
    ])
    const shown = await agent(['config', 'show'], options)
    expect(shown.stdout).toContain(`"gpt-5.5"  # imported from ${home}/.codex/config.toml:1`)
  })

  test('only counts in the user’s file: in a trusted repository it imports nothing', async () => {
    const cwd = repository({ '.portcullis/config.toml': 'import = ["codex"]\n' })
    const home = tempDir({ '.codex/config.toml': 'openai_base_url = "http://127.0.0.1:9/v1"\nmodel = "gpt-4.1"\n' })
    const { stdout } = await agent(['config', 'show', '--trust'], { cwd, home })
    expect(stdout).not.toContain('127.0.0.1:9')
    expect(stdout).toContain(
      `# ignored: ${cwd}/.portcullis/config.toml: import (only the user’s own configuration may set it)`,
    )
  })
})

test.skipIf(needsBubblewrap())(
  'what Codex may only read, a run here may not write either, and says whose word that is',
  async () => {
    const cwd = repository()
    const home = tempDir({ '.codex/config.toml': 'sandbox_mode = "read-only"\n' })
    const steps = [[call('exec_command', { cmd: 'touch made' })], [say('ok')]]
    const { stderr } = await exec(steps, ['x'], { cwd, home })
    expect(existsSync(join(cwd, 'made'))).toBe(false)
    expect(stderr).toContain('.codex/config.toml:1: sandbox_mode = "read-only" applies here too')
    await exec(steps, ['-s', 'workspace-write', 'x'], { cwd, home })
    expect(existsSync(join(cwd, 'made'))).toBe(true)
  },
)

describe.skipIf(needsBubblewrap())('rules of Codex', () => {
  const rules =
    'prefix_rule(pattern = ["touch"], decision = "forbidden")\nprefix_rule(pattern = ["mkdir"], decision = "allow")\n'

  test.each([
    ['the user’s', { home: { '.codex/rules/default.rules': rules }, root: {} }],
    ['a stranger’s repository’s', { home: {}, root: { '.codex/rules/default.rules': rules } }],
  ])('forbid: %s', async (_, { home, root }) => {
    const cwd = repository(root)
    const steps = [[call('exec_command', { cmd: 'touch made' })], [say('ok')]]
    const { stderr } = await exec(steps, ['x'], { cwd, home: tempDir(home) })
    expect(existsSync(join(cwd, 'made'))).toBe(false)
    expect(stderr).toContain('default.rules: mkdir (')
  })
})

test.skipIf(needsBubblewrap())(
  'import = ["claude"] has Claude asked where Claude Code asks it, and no command is told',
  async () => {
    const mock = await startMockAnthropic({ replies: [[call('exec_command', { cmd: 'env' })], [say('ok')]] })
    onTestFinished(() => mock.close())
    const env = { ANTHROPIC_BASE_URL: mock.baseUrl, ANTHROPIC_API_KEY: 'sk-ant-of-the-file', SHADE: 'green' }
    const home = tempDir({
      [own]: 'import = ["claude"]\n',
      '.claude/settings.json': JSON.stringify({ model: 'claude-opus-4-5', env }),
    })
    const { code, stderr } = await agent(['exec', '--json', 'x'], { cwd: repository(), home })
    expect(code, stderr).toBe(0)
    expect(mock.requests[0]?.body).toMatchObject({ model: 'claude-opus-4-5' })
    expect(mock.requests[0]?.headers['x-api-key']).toBe('sk-ant-of-the-file')
    const seen = JSON.stringify(mock.requests[1]?.body)
    expect(seen).toContain('SHADE=green')
    expect(seen).not.toContain('sk-ant-of-the-file')
    expect(seen).not.toContain('ANTHROPIC_BASE_URL=')
  },
)

test('a file in place of a folder in an untrusted repository stops no run', async () => {
  const cwd = repository({ '.codex/rules': '', '.portcullis/rules': '', '.claude/skills': '', '.claude/commands': '' })
  const { code, stderr } = await exec([[say('ok')]], ['-s', 'danger-full-access', 'x'], { cwd })
  expect(code, stderr).toBe(0)
  expect(stderr).toContain('.portcullis/rules (it can')
})

describe('--isolated', () => {
  test('leaves out instructions, settings, hooks, servers, skills and rules, and lists nothing', async () => {
    const loot = tempDir()
    const hooks = {
      hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${loot}/ran`, sandbox: false }] }] },
    }
    const files = {
      'AGENTS.md': 'told to the model',
      '.claude/CLAUDE.md': 'told to the model',
      '.claude/settings.json': JSON.stringify(hooks),
      '.claude/skills/one/SKILL.md': '---\nname: one\ndescription: told to the model\n---\n',
      '.agents/skills/two/SKILL.md': '---\nname: two\ndescription: told to the model\n---\n',
    }
    const theirs = {
      '.mcp.json': '{ broken',
      '.portcullis/config.toml': 'model = "broken',
      '.portcullis/rules/a.rules': 'broken(',
      '.codex/rules/a.rules': 'broken(',
    }
    const home = tempDir({
      ...files,
      [own]: 'broken =',
      '.config/portcullis/AGENTS.md': 'told to the model',
      '.config/portcullis/rules/a.rules': 'broken(',
    })
    const cwd = repository({ ...files, ...theirs })
    const args = ['--isolated', '--json', '-s', 'danger-full-access', 'x']
    const { code, events, requests, stderr } = await exec([[say('ok')]], args, { cwd, home })
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('ignored')])
    expect(JSON.stringify(requests[0]?.body)).not.toContain('told to the model')
    expect(events[0]).not.toHaveProperty('config.ignored_config')
    expect(existsSync(join(loot, 'ran'))).toBe(false)
  })

  test.each([[['--trust']], [['-p', 'ci']]])('contradicts %s', async (args) => {
    const { code, stderr } = await agent(['exec', '--isolated', ...args, 'x'], { cwd: repository(), home: tempDir() })
    expect(code).toBe(2)
    expect(stderr).toContain('--isolated ignores your configuration files and the repository')
  })
})
