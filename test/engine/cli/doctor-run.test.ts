import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, type AgentOptions } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Check = { group: string; check: string; state: string; found: string; next?: string }

/** Creates a repository, and a home directory with these files in our configuration folder. */
function place(config: Readonly<Record<string, string>> = {}): { readonly cwd: string; readonly home: string } {
  const [cwd, home] = [tempDir(), tempDir()]
  execFileSync('git', ['init', '-q', cwd])
  for (const [name, text] of Object.entries(config)) {
    mkdirSync(join(home, '.config/portcullis', name, '..'), { recursive: true })
    writeFileSync(join(home, '.config/portcullis', name), text)
  }
  return { cwd, home }
}

async function look(
  options: AgentOptions,
  ...words: readonly string[]
): Promise<{
  code: number | null
  stdout: string
  ready: boolean
  row: (check: string) => Check | undefined
  all: Check[]
}> {
  const { code, stdout, stderr } = await agent(['doctor', '--json', ...words], options)
  expect(stderr).toBe('')
  const { ready, checks, backends } = JSON.parse(stdout) as { ready: boolean; checks: Check[]; backends: unknown[] }
  // The report also lists the four backends.
  expect(backends).toHaveLength(4)
  return { code, stdout, ready, all: checks, row: (name) => checks.find(({ check }) => check === name) }
}

const key = 'sk-do-not-show-4711'

describe.skipIf(needsBubblewrap())('agent doctor', () => {
  test('a missing key is named by its variable, and the exit code is 1', async () => {
    const at = place()
    const { code, ready, row } = await look(at)
    expect({ code, ready }).toEqual({ code: 1, ready: false })
    expect(row('key')).toEqual({
      group: 'model',
      check: 'key',
      state: 'missing',
      found: 'none for OpenAI: OPENAI_API_KEY or CODEX_API_KEY is not set',
      next: 'Set OPENAI_API_KEY or CODEX_API_KEY in the environment, or choose another model with -m or the setting model.',
    })
    const words = await agent(['doctor'], at)
    expect(words.code).toBe(1)
    expect(words.stdout).toMatch(/ {2}no {2}key: none for OpenAI/)
    expect(words.stdout).toMatch(/agent exec would not start here: see model, key\n$/)
  })

  test('an existing key is reported, and never shown', async () => {
    const { code, stdout, row } = await look({ ...place(), env: { OPENAI_API_KEY: key } })
    expect(code).toBe(0)
    expect(row('key')).toMatchObject({ state: 'ok', found: 'in OPENAI_API_KEY (not tried)' })
    expect(row('provider')?.found).toMatch(/^OpenAI, https:\/\/api\.openai\.com\/v1, wire API responses/)
    expect(stdout).not.toContain(key)
  })

  test('a key that a header can’t contain is found before the first request', async () => {
    const { code, stdout, row } = await look({ ...place(), env: { ANTHROPIC_API_KEY: `${key}\nx` } }, '-m', 'claude-x')
    expect(code).toBe(1)
    expect(row('key')).toMatchObject({ state: 'missing', next: 'Set ANTHROPIC_API_KEY anew.' })
    expect(stdout).not.toContain(key)
  })

  test('a configured provider is shown as resolved: URL without query, wire, source of the key', async () => {
    const config = [
      'model = "mine/m1"',
      '[model_providers.mine]',
      'name = "Mine"',
      'base_url = "https://llm.example/v2?token=abc"',
      'wire_api = "chat"',
      'env_key = "MINE_KEY"',
      'env_key_instructions = "Ask Ada."',
    ].join('\n')
    const at = place({ 'config.toml': config })
    const without = await look(at)
    expect(without.row('key')).toMatchObject({ state: 'missing', next: 'Ask Ada.' })
    const { code, stdout, row } = await look({ ...at, env: { MINE_KEY: key } })
    expect(code).toBe(0)
    expect(row('provider')?.found).toBe(
      'Mine, https://llm.example/v2, wire API chat, model m1 (the provider was not contacted)',
    )
    expect(row('key')?.found).toBe('in MINE_KEY (not tried)')
    expect(stdout).not.toContain('token=abc')
  })

  test('a command that prints the key is looked up, but not run', async () => {
    const program = join(tempDir({ 'print-key': '#!/bin/sh\ntouch "$0.ran"; echo k\n' }), 'print-key')
    execFileSync('chmod', ['+x', program])
    const provider = (command: string): string =>
      `model = "mine/m"\n[model_providers.mine]\nbase_url = "https://llm.example"\nauth = { command = "${command}" }\n`
    const there = await look(place({ 'config.toml': provider(program) }))
    expect(there.code).toBe(0)
    expect(there.row('key')?.found).toBe(`printed by ${program} (not run here)`)
    expect(existsSync(`${program}.ran`)).toBe(false)
    const gone = await look(place({ 'config.toml': provider('/nowhere/print-key') }))
    expect(gone.code).toBe(1)
    expect(gone.row('key')).toMatchObject({ state: 'missing' })
  })

  test('an unknown model, and a recording that does not exist, are reported as missing', async () => {
    const unknown = await look(place(), '-m', 'what-is-this')
    expect(unknown.code).toBe(1)
    expect(unknown.row('model')).toMatchObject({ state: 'missing', found: expect.stringContaining('Unknown model') })
    const recording = await look(place(), '-m', 'replay:none.jsonl')
    expect(recording.code).toBe(1)
    expect(recording.row('model')).toMatchObject({ state: 'missing', found: expect.stringContaining('none.jsonl') })
  })

  test('broken configuration is reported with its line, for every file with a fault, and the rest is still checked', async () => {
    const at = place({ 'config.toml': 'model = "m"\nmodel = \n', 'rules/a.rules': 'prefix_rule(pattern = 1)\n' })
    const { code, row, all } = await look(at)
    expect(code).toBe(1)
    const wrong = all.filter(({ check }) => check === 'wrong').map(({ found }) => found)
    expect(wrong).toHaveLength(2)
    expect(wrong[0]).toMatch(/\/config\.toml:2:\d+: /)
    expect(wrong[1]).toMatch(/a\.rules:1/)
    expect(row('model')).toMatchObject({ state: 'note' })
    expect(row('trust')).toMatchObject({ state: 'note' })
    expect(row('repository')).toMatchObject({ state: 'ok', found: at.cwd })
    expect(row('state')).toMatchObject({ state: 'ok' })
  })

  test('files that count are listed, and settings of a repository that have no effect', async () => {
    const at = place({ 'config.toml': 'model = "ollama/m"\n' })
    mkdirSync(join(at.cwd, '.portcullis'))
    const brought = join(at.cwd, '.portcullis/config.toml')
    writeFileSync(brought, 'model = "other"\n')
    const untrusted = await look(at)
    expect(untrusted.code).toBe(0)
    expect(untrusted.row(join(at.home, '.config/portcullis/config.toml'))).toMatchObject({ state: 'ok', found: 'read' })
    expect(untrusted.all.filter(({ check }) => check === brought)).toContainEqual(
      expect.objectContaining({ state: 'note', found: expect.stringMatching(/^ignored: model .*not trusted/) }),
    )
    expect(untrusted.row('trust')?.next).toContain('agent trust')
    const trusted = await look(at, '--trust')
    expect(trusted.row('trust')?.found).toContain('is trusted')
    expect(trusted.row('model')).toMatchObject({ state: 'missing' })
  })

  test('git is shown with its version and the committer, from the repository, the user or the environment', async () => {
    const at = place()
    const words = ['-m', 'ollama/m']
    const nobody = await look(at, ...words)
    expect(nobody.code).toBe(0)
    expect(nobody.row('program')?.found).toMatch(/^git version \d/)
    expect(nobody.row('identity')).toMatchObject({
      state: 'note',
      next: expect.stringContaining('git config --global'),
    })
    writeFileSync(join(at.home, '.gitconfig'), '[user]\nname = Ada\nemail = ada@home.example\n')
    expect((await look(at, ...words)).row('identity')?.found).toBe('Ada <ada@home.example>')
    execFileSync('git', ['-C', at.cwd, 'config', 'user.email', 'ada@work.example'])
    expect((await look(at, ...words)).row('identity')?.found).toBe('Ada <ada@work.example>')
    const env = { GIT_AUTHOR_NAME: 'Eve', GIT_AUTHOR_EMAIL: 'eve@env.example' }
    expect((await look({ ...at, env }, ...words)).row('identity')?.found).toBe('Eve <eve@env.example>')
  })

  test('a repository’s configuration makes git run nothing and read no further file', async () => {
    const at = place()
    const mark = join(tempDir(), 'ran')
    const lines = ['[core]', `fsmonitor = touch ${mark}`, `pager = touch ${mark}`, `[alias]`, `config = !touch ${mark}`]
    execFileSync('mkfifo', [join(at.cwd, 'pipe')])
    writeFileSync(join(at.cwd, '.git/config'), [...lines, '[include]', `path = ${at.cwd}/pipe`, ''].join('\n'))
    const { row } = await look(at, '-m', 'ollama/m')
    expect(row('identity')).toMatchObject({ state: 'note' })
    expect(existsSync(mark)).toBe(false)
  })

  test('outside any repository a run would not start, unless an option allows it', async () => {
    const at = { cwd: tempDir(), home: tempDir() }
    const outside = await look(at, '-m', 'ollama/m')
    expect(outside.code).toBe(1)
    expect(outside.row('repository')).toMatchObject({ state: 'missing' })
    expect((await look(at, '-m', 'ollama/m', '--skip-git-repo-check')).code).toBe(0)
  })

  test('a state folder that can’t be created is reported as missing, and the check leaves nothing behind', async () => {
    const at = place()
    const file = join(tempDir({ file: '' }), 'file')
    const { code, row } = await look({ ...at, env: { XDG_STATE_HOME: file } }, '-m', 'ollama/m')
    expect(code).toBe(1)
    expect(row('state')).toMatchObject({ state: 'missing', next: expect.stringContaining('XDG_STATE_HOME') })
    const well = await look({ ...at, env: { XDG_STATE_HOME: join(at.cwd, 'kept') } }, '-m', 'ollama/m')
    expect(well.code).toBe(0)
    expect(readdirSync(at.cwd)).toEqual(['.git'])
  })

  test('a run that requests no sandbox lacks none', async () => {
    const { code, row } = await look(place(), '-m', 'ollama/m', '-s', 'danger-full-access')
    expect(code).toBe(0)
    expect(row('this configuration')).toMatchObject({ state: 'note' })
  })
})
