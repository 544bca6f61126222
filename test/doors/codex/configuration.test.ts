import { describe, expect, test } from 'vitest'
import { loadConfig, type Config, type ConfigSources } from '../../../engine/config/load-config.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Given = {
  readonly file?: string
  readonly profile?: string
  readonly own?: string
  readonly overrides?: readonly string[]
  readonly door?: Partial<NonNullable<ConfigSources['codex']>>
}

/** Loads the configuration of a run that a command line for Codex started. */
function load({ file, profile, own, overrides = [], door }: Given): Config {
  const root = tempDir()
  const folder = tempDir({
    ...(file === undefined ? {} : { 'config.toml': file.replaceAll('<root>', root) }),
    ...(profile === undefined ? {} : { 'ci.config.toml': profile }),
  })
  const user = tempDir(own === undefined ? {} : { 'config.toml': own })
  const nowhere = '/nowhere'
  return loadConfig({
    places: { home: nowhere, config: user, managed: nowhere, managedClaude: nowhere, state: nowhere, codex: folder },
    project: { root, workspace: root },
    overrides,
    codex: { userConfig: true, rules: true, strict: false, ...door },
  })
}

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

test.each<readonly [override: string, settings: object]>([
  ['tools.web_search=true', { web_search: 'live' }],
  ['tools.web_search=false', { web_search: 'disabled' }],
  ['web_search="indexed"', { web_search: 'cached' }],
  ['features.web_search_request=true', { web_search: 'live' }],
  ['default_permissions=":read-only"', { sandbox_mode: 'read-only' }],
  ['sandbox_workspace_write.network_access=true', { sandbox_workspace_write: { network_access: true } }],
  ['mcp_servers.x={command="y", startup_timeout_ms=2000}', { mcp_servers: { x: { startup_timeout_sec: 2 } } }],
])('%s is honoured', (override, settings) => {
  expect(load({ overrides: [override] }).settings).toMatchObject(settings)
})

test('default_tools_approval_mode decides about the tools of a server', () => {
  const listOf = (mode: string): unknown =>
    load({ overrides: [`mcp_servers.x={command="y", default_tools_approval_mode="${mode}"}`] }).permissions
  expect(JSON.stringify(listOf('approve'))).toContain('{"allow":["mcp__x"]}')
  expect(JSON.stringify(listOf('prompt'))).toContain('{"ask":["mcp__x"]}')
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

test.each([
  'default_permissions = "mine"',
  'default_permissions = "mine"\n[permissions.mine.filesystem]\n":root" = "read"',
])('a permission profile that is not understood ends the run: %s', (file) =>
  expect(() => load({ file })).toThrow(/key 'default_permissions': permission profiles of Codex aren't understood/),
)
