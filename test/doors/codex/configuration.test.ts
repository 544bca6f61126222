import { describe, expect, test } from 'vitest'
import { load, type Given } from './configured.ts'

const ignored = (given: Given): readonly string[] => load(given).ignored.flatMap(({ keys }) => keys)

describe('$CODEX_HOME/config.toml', () => {
  test('counts below the user’s own configuration', () => {
    const { settings } = load({ file: 'model = "theirs"\nmodel_verbosity = "low"', own: 'model = "mine"' })
    expect(settings).toMatchObject({ model: 'mine', model_verbosity: 'low' })
  })

  test('with --ignore-user-config only makes the run stricter', () => {
    const file = 'model = "theirs"\n[shell_environment_policy]\nexclude = ["A_*"]'
    const { settings } = load({ file, door: { userConfig: false } })
    expect(settings.model).toBeUndefined()
    expect(settings.shell_environment_policy?.exclude).toEqual(['A_*'])
  })

  test('has profiles, as tables and as files', () => {
    const file = 'model = "usual"\nprofile = "table"\n[profiles.table]\nmodel = "by table"'
    expect(load({ file }).settings.model).toBe('by table')
    expect(load({ file, profile: 'model = "by file"', door: { profile: 'ci' } }).settings.model).toBe('by file')
    expect(() => load({ file, door: { profile: 'absent' } })).toThrow(/profile 'absent' is neither in .*absent\.config/)
  })

  test('that is no TOML ends the run', () => {
    expect(() => load({ file: 'model =' })).toThrow(/config\.toml:1:\d+: not valid TOML/)
  })
})

test('the sandbox is read-only, unless Codex trusts the repository or somebody says otherwise', () => {
  const mode = (given: Given): string | undefined => load(given).settings.sandbox_mode
  expect(mode({})).toBe('read-only')
  expect(mode({ file: '[projects."<root>"]\ntrust_level = "trusted"' })).toBe('workspace-write')
  expect(mode({ file: '[projects."/other"]\ntrust_level = "trusted"' })).toBe('read-only')
  expect(mode({ file: '[projects."<root>"]\ntrust_level = "trusted"', door: { userConfig: false } })).toBe('read-only')
  expect(mode({ own: 'sandbox_mode = "workspace-write"' })).toBe('workspace-write')
  expect(mode({ overrides: ['default_permissions=":workspace"'] })).toBe('workspace-write')
})

describe('of two keys about what commands may access', () => {
  const strict = 'default_permissions = ":read-only"\n'
  const profile = '[profiles.p]\ndefault_permissions = ":read-only"'
  test.each<readonly [given: Given, mode: string]>([
    [{ file: `${strict}[projects."<root>"]\ntrust_level = "trusted"` }, 'read-only'],
    [{ file: `sandbox_mode = "workspace-write"\n${profile}`, door: { profile: 'p' } }, 'read-only'],
    [{ file: 'sandbox_mode = "danger-full-access"', profile: strict, door: { profile: 'ci' } }, 'read-only'],
    [{ file: strict, profile: 'sandbox_mode = "workspace-write"', door: { profile: 'ci' } }, 'workspace-write'],
  ])('the upper table’s counts: %j', (given, mode) => expect(load(given).settings.sandbox_mode).toBe(mode))

  test('the stricter counts in one table', () => {
    const both = ['sandbox_mode="danger-full-access"', 'default_permissions=":read-only"']
    for (const overrides of [both, both.toReversed()]) {
      expect(load({ overrides }).settings.sandbox_mode).toBe('read-only')
      expect(load({ file: overrides.join('\n') }).settings.sandbox_mode).toBe('read-only')
    }
  })
})

test.each<readonly [override: string, settings: object]>([
  ['tools.web_search=true', { web_search: 'live' }],
  ['tools.web_search=false', { web_search: 'disabled' }],
  ['web_search="indexed"', { web_search: 'cached' }],
  ['features.web_search_request=true', { web_search: 'live' }],
  ['default_permissions=":read-only"', { sandbox_mode: 'read-only' }],
  ['developer_instructions="a\\u007fb"', { developer_instructions: 'a\x7fb' }],
  ['sandbox_workspace_write.network_access=true', { sandbox_workspace_write: { network_access: true } }],
  ['mcp_servers.x={command="y", startup_timeout_ms=2000}', { mcp_servers: { x: { startup_timeout_sec: 2 } } }],
])('%s is honoured', (override, settings) => {
  expect(load({ overrides: [override] }).settings).toMatchObject(settings)
})

test('default_tools_approval_mode and approval_mode decide about the tools of a server', () => {
  const listsOf = (given: Given): readonly unknown[] => load(given).permissions.map(({ lists }) => lists)
  for (const [mode, list] of [
    ['approve', 'allow'],
    ['prompt', 'ask'],
  ] as const) {
    const all = `mcp_servers.x={command="y", default_tools_approval_mode="${mode}"}`
    const one = `mcp_servers.x={command="y", tools={rm={approval_mode="${mode}"}}}`
    for (const given of [{ overrides: [all] }, { file: all }]) expect(listsOf(given)).toEqual([{ [list]: ['mcp__x'] }])
    for (const given of [{ overrides: [one] }, { file: one }]) {
      expect(listsOf(given)).toEqual([{ [list]: ['mcp__x__rm'] }])
      expect(ignored(given)).toEqual([])
    }
  }
})

test('a table that restricts searches does not enable them', () => {
  const restricted = 'tools.web_search={allowed_domains=["example.com"]}'
  expect(load({ overrides: [restricted] }).settings.web_search).toBeUndefined()
  expect(ignored({ overrides: [restricted] })).toEqual(['tools.web_search.allowed_domains'])
})

describe('a key that means nothing here', () => {
  test('of Codex is named, and nothing else happens', () => {
    const overrides = [
      'features.goals=true',
      'hide_agent_reasoning=true',
      'model_providers.x.supports_websockets=false',
    ]
    expect(ignored({ overrides })).toEqual(expect.arrayContaining(['features.goals', 'hide_agent_reasoning']))
    expect(ignored({ file: 'notify = ["x"]\n[tui]\ntheme = "dark"' })).toEqual(['notify', 'tui'])
    expect(ignored({ overrides, door: { strict: true } })).toHaveLength(3)
  })

  test('and that nobody knows is named, and is an error with --strict-config', () => {
    for (const given of [{ overrides: ['retry_budget=3'] }, { file: 'retry_budget = 3' }]) {
      expect(ignored(given)).toEqual(['retry_budget'])
      expect(() => load({ ...given, door: { strict: true } })).toThrow(/unknown key 'retry_budget'; Codex .* doesn't/)
    }
    expect(() => load({ overrides: ['features.gaols=true'], door: { strict: true } })).toThrow(/'features.gaols'/)
  })

  test.each([
    ['sandbox_mod', 'sandbox_mode'],
    ['sandbox-mode', 'sandbox_mode'],
    ['aproval_policy', 'approval_policy'],
    ['sandbox_workspace_write.netwrk_access', 'sandbox_workspace_write.network_access'],
    ['default_permission', 'default_permissions'],
  ])('but is probably %s is never passed over', (key, meant) => {
    expect(() => load({ overrides: [`${key}="x"`] })).toThrow(`-c: unknown key '${key}'; did you mean '${meant}'?`)
    const [table, inner] = key.split('.')
    const file = inner === undefined ? `${table} = "x"` : `[${table}]\n${inner} = "x"`
    expect(() => load({ file })).toThrow(`unknown key '${key}'; did you mean '${meant}'?`)
  })
})
