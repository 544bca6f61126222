import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig, type Config, type ConfigSources } from '../../../engine/config/load-config.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Files = {
  readonly managed?: string
  readonly user?: string
  /** The configuration file in the repository's root. */
  readonly project?: string
  /** The configuration file in the workspace, which is a directory below the root. */
  readonly nested?: string
}

/** Loads the configuration that results from these files and this command line. */
function load(
  files: Files,
  line: Partial<Pick<ConfigSources, 'profile' | 'trust' | 'overrides' | 'addDirs' | 'flags'>> = {},
): Config & { readonly root: string } {
  const root = tempDir({
    'nested/.keep': '',
    ...(files.project === undefined ? {} : { '.portcullis/config.toml': files.project }),
    ...(files.nested === undefined ? {} : { 'nested/.portcullis/config.toml': files.nested }),
  })
  const folder = (text: string | undefined): string => tempDir(text === undefined ? {} : { 'config.toml': text })
  const places = {
    config: folder(files.user),
    managed: folder(files.managed),
    managedClaude: '/nowhere',
    codex: '/nowhere',
    home: '/nowhere',
    state: '/nowhere',
  }
  return { root, ...loadConfig({ places, project: { root, workspace: join(root, 'nested') }, ...line }) }
}

function refusal(...args: Parameters<typeof load>): string {
  try {
    load(...args)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

/** The settings that were left out, as `key: reason`. */
const leftOut = ({ ignored }: Config): readonly string[] =>
  ignored.flatMap(({ keys, reason }) => keys.map((key) => `${key}: ${reason}`))

test('no file means no settings', () => {
  expect(load({})).toMatchObject({ settings: {}, trusted: false, ignored: [] })
})

test('a file sets what it names', () => {
  expect(load({ user: 'model = "gpt-5.5"\n[sandbox_workspace_write]\nnetwork_access = true\n' }).settings).toEqual({
    model: 'gpt-5.5',
    sandbox_workspace_write: { network_access: true },
  })
})

describe('-c key=value', () => {
  test('wins over the file, and a later one over an earlier one', () => {
    const quoted = load({}, { overrides: ['mcp_servers."my.srv".command="a=b"', 'mcp_servers.\'x=y\'={command="c"}'] })
    expect(quoted.settings.mcp_servers).toMatchObject({ 'my.srv': { command: 'a=b' }, 'x=y': { command: 'c' } })
    expect(() => load({}, { overrides: ['mcp_servers."my.srv=1'] })).toThrow(/expected key=value/)
    expect(() => load({}, { overrides: [`${'a.'.repeat(20_000)}b=1`] })).toThrow(/a key has at most 32 parts/)
    const { settings } = load({ user: 'model = "a"' }, { overrides: ['model=b', 'model="c"'] })
    expect(settings).toEqual({ model: 'c' })
  })
  test('sets a nested key and leaves its neighbours', () => {
    const { settings } = load(
      { user: '[sandbox_workspace_write]\nnetwork_access = true' },
      { overrides: ['sandbox_workspace_write.writable_roots=["/srv"]'] },
    )
    expect(settings).toEqual({ sandbox_workspace_write: { network_access: true, writable_roots: ['/srv'] } })
  })
  test('changes one key of a provider and leaves its others', () => {
    const { settings } = load(
      { user: '[model_providers.corp]\nbase_url = "https://a.example.com/v1"\nenv_key = "KEY"' },
      { overrides: ['model_providers.corp.base_url=https://b.example.com/v1'] },
    )
    expect(settings.model_providers?.['corp']).toMatchObject({
      base_url: 'https://b.example.com/v1',
      env_key: 'KEY',
    })
  })
  test('that sets a table replaces all of its content', () => {
    const { settings } = load(
      { user: '[shell_environment_policy]\nset = { A = "1" }' },
      { overrides: ['shell_environment_policy.set={ B = "2" }'] },
    )
    expect(settings).toEqual({ shell_environment_policy: { set: { B: '2' } } })
  })
  test('that sets anything about the network replaces all network settings', () => {
    const user = '[sandbox_workspace_write]\nallowed_hosts = ["a.example.com"]'
    const { settings } = load({ user }, { overrides: ['sandbox_workspace_write.network_access=true'] })
    expect(settings).toEqual({ sandbox_workspace_write: { network_access: true } })
  })
  test('is refused without an equals sign', () => {
    expect(refusal({}, { overrides: ['model'] })).toBe(
      `-c 'model': expected key=value, e.g. -c sandbox_mode="read-only"`,
    )
  })
  test('is refused if the key is unknown, and a similar key is named', () => {
    expect(refusal({}, { overrides: ['sandbox-mode=read-only'] })).toBe(
      `-c: unknown key 'sandbox-mode'; did you mean 'sandbox_mode'?`,
    )
  })
  test('does not reach the prototype', () => {
    expect(refusal({}, { overrides: ['__proto__.polluted=1'] })).toContain('unknown key')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('something wrong in a file', () => {
  test('broken TOML is named with file, line and column', () => {
    expect(refusal({ user: 'model = "a"\nsandbox_mode = \n' })).toMatch(/\/config\.toml:2:\d+: not valid TOML: /)
  })
  test('a wrong value is named with file, line and key', () => {
    const message = refusal({ user: '# mine\nmodel = "a"\nsandbox_mode = "none"' })
    expect(message).toMatch(/\/config\.toml:3: key 'sandbox_mode': .*workspace-write/)
  })
  test('an unknown nested key leads to a similar one', () => {
    expect(refusal({ user: '[sandbox_workspace_write]\nnetwork_acess = true' })).toMatch(
      /\/config\.toml:2: unknown key 'sandbox_workspace_write\.network_acess'; did you mean 'network_access'\?/,
    )
  })
  test('all wrong keys are named at once', () => {
    expect(refusal({ user: 'sandbox_mode = 1\nmodel = 2' }).split('\n')).toHaveLength(2)
  })
  test('an unknown key of a provider leads to a similar one', () => {
    expect(refusal({ user: '[model_providers.x]\nbase_url = "https://a.example.com"\nwireapi = "chat"' })).toContain(
      `:3: unknown key 'model_providers.x.wireapi'; did you mean 'wire_api'?`,
    )
  })
  test('an unknown key of a value with several possible forms leads to a similar one', () => {
    expect(refusal({ user: '[mcp_servers.x]\ncommand = "a"\nargz = []' })).toContain(
      `:3: unknown key 'mcp_servers.x.argz'; did you mean 'args'?`,
    )
    expect(refusal({ user: '[sandbox_workspace_write]\nallowed_hosts = [{ hots = "a" }]' })).toContain(
      `unknown key 'sandbox_workspace_write.allowed_hosts.0.hots'; did you mean 'host'?`,
    )
  })
  test('the machine’s file is checked like any other', () => {
    expect(refusal({ managed: 'sandbox_mod = "read-only"' })).toContain(`did you mean 'sandbox_mode'?`)
  })
  test('so is the file of a trusted repository', () => {
    expect(refusal({ project: 'modle = "a"' }, { trust: true })).toMatch(
      /\.portcullis\/config\.toml:1: unknown key 'modle'; did you mean 'model'\?/,
    )
  })
})

describe('a repository that is not trusted', () => {
  test('sets nothing, and each key it tried to set is listed', () => {
    const config = load({ project: 'model = "evil"\n[sandbox_workspace_write]\nnetwork_access = true' })
    expect(config.settings).toEqual({})
    expect(config.ignored).toMatchObject([
      {
        source: `${config.root}/.portcullis/config.toml`,
        keys: ['model', 'sandbox_workspace_write.network_access'],
        reason: expect.stringContaining('not trusted'),
      },
    ])
  })
  test('can’t stop a run with a broken file', () => {
    expect(load({ project: '= = =' })).toMatchObject({ settings: {}, ignored: [{ keys: [] }] })
  })
  test('can’t control a terminal with the names of its keys', () => {
    const { ignored } = load({ project: '"\\u001b[2Jx" = 1' })
    expect(ignored[0]?.keys).toEqual(['"\\u001b[2Jx"'])
  })
  test.each([
    ['deep arrays', `a = ${'['.repeat(100_000)}`],
    ['deep keys', `${Array.from({ length: 50_000 }, () => 'a').join('.')} = 1`],
    ['too much', '# '.repeat(200_000)],
  ])('can’t stop a run with %s', (_, project) => {
    expect(load({ project })).toMatchObject({ settings: {}, ignored: [{}] })
  })
  test('can’t fill the screen either', () => {
    const many = Array.from({ length: 500 }, (_, index) => `${'k'.repeat(200)}${index} = 1`).join('\n')
    const { ignored } = load({ project: many })
    expect(ignored[0]?.keys).toHaveLength(21)
    expect(ignored[0]?.keys.at(-1)).toBe('and 480 more')
    expect(ignored[0]?.keys[0]?.length).toBeLessThan(100)
  })
})

describe('a repository is trusted', () => {
  const project = 'model = "theirs"'

  test('for one run by --trust', () => {
    expect(load({ project }, { trust: true })).toMatchObject({ trusted: true, settings: { model: 'theirs' } })
  })

  test('by a table in the user’s file for its root, even through a link', () => {
    const root = tempDir({ '.portcullis/config.toml': project })
    const link = join(tempDir(), 'link')
    symlinkSync(root, link)
    for (const path of [root, link]) {
      const user = tempDir({ 'config.toml': `[projects."${path}"]\ntrust_level = "trusted"` })
      const places = {
        config: user,
        managed: '/nowhere',
        managedClaude: '/nowhere',
        codex: '/nowhere',
        home: '/nowhere',
        state: '/nowhere',
      }
      expect(loadConfig({ places, project: { root, workspace: root } })).toMatchObject({ trusted: true })
    }
  })

  test('not by a table for a directory around it', () => {
    const outer = tempDir({ 'repo/.portcullis/config.toml': project })
    const user = tempDir({ 'config.toml': `[projects."${outer}"]\ntrust_level = "trusted"` })
    const root = join(outer, 'repo')
    const places = {
      config: user,
      managed: '/nowhere',
      managedClaude: '/nowhere',
      codex: '/nowhere',
      home: '/nowhere',
      state: '/nowhere',
    }
    expect(loadConfig({ places, project: { root, workspace: root } })).toMatchObject({ trusted: false })
  })

  test('never if the machine’s file says otherwise', () => {
    const root = tempDir({ '.portcullis/config.toml': project })
    const managed = tempDir({ 'config.toml': `[projects."${root}"]\ntrust_level = "untrusted"` })
    const places = {
      config: '/nowhere',
      managed,
      managedClaude: '/nowhere',
      codex: '/nowhere',
      home: '/nowhere',
      state: '/nowhere',
    }
    const config = loadConfig({ places, project: { root, workspace: root }, trust: true })
    expect(config).toMatchObject({ trusted: false, settings: {} })
  })
})

describe('a trusted repository', () => {
  const trust = { trust: true }

  test('overrides the user’s preferences, and the nearest directory overrides the root', () => {
    const { settings } = load(
      {
        user: 'model = "mine"\nmodel_reasoning_effort = "low"',
        project: 'model = "root"\nmodel_reasoning_effort = "high"',
        nested: 'model = "near"',
      },
      trust,
    )
    expect(settings).toEqual({ model: 'near', model_reasoning_effort: 'high' })
  })

  test('chooses how long to wait and when to compact, whatever the user chose', () => {
    const { settings, ignored } = load(
      { user: 'compact_at = 0.5\nstream_max_retries = 1', project: 'compact_at = 0.8\nstream_max_retries = 3' },
      trust,
    )
    expect({ settings, ignored }).toEqual({ settings: { compact_at: 0.8, stream_max_retries: 3 }, ignored: [] })
  })

  test('is overridden by -c and flags', () => {
    const line = {
      ...trust,
      overrides: ['sandbox_mode=workspace-write'],
      flags: [{ flag: '-m', settings: { model: 'f' } }],
    }
    expect(load({ project: 'model = "theirs"\nsandbox_mode = "read-only"' }, line).settings).toEqual({
      model: 'f',
      sandbox_mode: 'workspace-write',
    })
  })

  test.each<readonly [string, string, string]>([
    ['a sandbox mode', 'sandbox_mode = "workspace-write"', 'sandbox_mode = "read-only"'],
    ['an approval policy', 'approval_policy = "on-request"', 'approval_policy = "untrusted"'],
    [
      'the network',
      '[sandbox_workspace_write]\nnetwork_access = true',
      '[sandbox_workspace_write]\nallowed_hosts = ["a.example.com"]',
    ],
    [
      'the hosts',
      '[sandbox_workspace_write]\nallowed_hosts = ["*.example.com", "b.test:8080"]',
      '[sandbox_workspace_write]\nallowed_hosts = ["a.example.com", "b.test:8080"]',
    ],
    [
      'the writable roots',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv"]',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv/a"]',
    ],
    [
      'a host at private addresses',
      '[sandbox_workspace_write]\nallowed_hosts = [{ host = "a.test", allow_private = true }]',
      '[sandbox_workspace_write]\nallowed_hosts = ["a.test"]',
    ],
    [
      'what may be read',
      '[sandbox_read]\nallow = ["/srv"]\ndeny = ["/opt/a"]',
      '[sandbox_read]\nallow = ["/srv/a"]\ndeny = ["/opt", "/var"]',
    ],
    ['a limit', '[sandbox_limits]\nmemory = "1G"', '[sandbox_limits]\nmemory = "512M"'],
    [
      'the environment',
      '[shell_environment_policy]\ninherit = "core"\nexclude = ["A*"]\ninclude_only = ["B", "C"]',
      '[shell_environment_policy]\ninherit = "none"\nexclude = ["B", "A*"]\ninclude_only = ["C"]',
    ],
  ])('narrows %s that the user fixed', (_, user, project) => {
    const config = load({ user, project }, trust)
    expect(config.ignored).toEqual([])
    expect(config.settings).toEqual(load({ user: project }).settings)
  })

  test.each<readonly [string, string, string, readonly string[]]>([
    ['a sandbox mode', 'sandbox_mode = "read-only"', 'sandbox_mode = "workspace-write"', ['sandbox_mode']],
    ['an approval policy', 'approval_policy = "untrusted"', 'approval_policy = "never"', ['approval_policy']],
    [
      'the network, by opening it',
      '[sandbox_workspace_write]\nnetwork_access = false',
      '[sandbox_workspace_write]\nnetwork_access = true',
      ['sandbox_workspace_write.network_access'],
    ],
    [
      'the network, by naming hosts',
      '[sandbox_workspace_write]\nnetwork_access = false',
      '[sandbox_workspace_write]\nallowed_hosts = ["evil.test"]',
      ['sandbox_workspace_write.allowed_hosts'],
    ],
    [
      'the network, by having no sandbox',
      '[sandbox_workspace_write]\nnetwork_access = false',
      'sandbox_mode = "danger-full-access"',
      ['sandbox_mode'],
    ],
    [
      'the hosts',
      '[sandbox_workspace_write]\nallowed_hosts = ["*.example.com"]',
      '[sandbox_workspace_write]\nallowed_hosts = ["a.example.com", "example.com.evil.test"]',
      ['sandbox_workspace_write.allowed_hosts'],
    ],
    [
      'the writable roots',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv"]',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv-evil"]',
      ['sandbox_workspace_write.writable_roots'],
    ],
    [
      'the writable roots, by dots',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv"]',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv/../etc"]',
      ['sandbox_workspace_write.writable_roots'],
    ],
    ['the package caches', 'sandbox_caches = ["npm"]', 'sandbox_caches = ["npm", "go"]', ['sandbox_caches']],
    [
      'the writable roots, by a cache',
      '[sandbox_workspace_write]\nwritable_roots = ["/srv"]',
      'sandbox_caches = ["npm"]',
      ['sandbox_caches'],
    ],
    [
      'a host, by its private addresses',
      '[sandbox_workspace_write]\nallowed_hosts = ["a.test"]',
      '[sandbox_workspace_write]\nallowed_hosts = [{ host = "a.test", allow_private = true }]',
      ['sandbox_workspace_write.allowed_hosts'],
    ],
    [
      'names that must not be read, by showing one',
      '[sandbox_read]\ndeny = [".env*"]',
      '[sandbox_read]\nallow = ["/srv/.env"]',
      ['sandbox_read.allow'],
    ],
    [
      'what may be read',
      '[sandbox_read]\nallow = ["/srv"]\ndeny = ["/opt"]',
      '[sandbox_read]\nallow = ["/srv", "/var"]\ndeny = ["/opt/a"]',
      ['sandbox_read.allow', 'sandbox_read.deny'],
    ],
    [
      'what must not be read, by showing it',
      '[sandbox_read]\ndeny = ["/opt"]',
      '[sandbox_read]\nallow = ["/opt/a"]',
      ['sandbox_read.allow'],
    ],
    ['a limit', '[sandbox_limits]\nmemory = "512M"', '[sandbox_limits]\nmemory = "1G"', ['sandbox_limits.memory']],
    [
      'a limit, by having no sandbox',
      '[sandbox_limits]\nprocesses = 10',
      'sandbox_mode = "danger-full-access"',
      ['sandbox_mode'],
    ],
    [
      'the environment',
      '[shell_environment_policy]\ninherit = "core"\nexclude = ["A*"]\ninclude_only = ["B"]\nset = { P = "1" }',
      '[shell_environment_policy]\ninherit = "all"\nexclude = []\ninclude_only = ["*"]\nset = { P = "2" }',
      [
        'shell_environment_policy.inherit',
        'shell_environment_policy.exclude',
        'shell_environment_policy.include_only',
        'shell_environment_policy.set.P',
      ],
    ],
    [
      'where requests go',
      'openai_base_url = "https://gateway.example.com/v1"\nmodel_provider = "openai"',
      'openai_base_url = "https://evil.test/v1"\nmodel_provider = "ollama"',
      ['model_provider', 'openai_base_url'],
    ],
    [
      'a provider',
      '[model_providers.corp]\nbase_url = "https://a.example.com/v1"',
      '[model_providers.corp]\nbase_url = "https://evil.test/v1"',
      ['model_providers.corp'],
    ],
  ])('never loosens %s that the user fixed', (_, user, project, keys) => {
    const config = load({ user, project }, trust)
    expect(config.settings).toEqual(load({ user }).settings)
    expect(config.ignored.flatMap((entry) => entry.keys)).toEqual(keys)
  })

  test('can’t move a writable root outside with a link', () => {
    const root = tempDir()
    mkdirSync(join(root, 'in'))
    symlinkSync('/etc', join(root, 'in/link'))
    const table = (path: string): string => `[sandbox_workspace_write]\nwritable_roots = ["${path}"]`
    const config = load({ user: table(`${root}/in`), project: table(`${root}/in/link`) }, trust)
    expect(config.settings).toMatchObject({ sandbox_workspace_write: { writable_roots: [`${root}/in`] } })
  })

  test('is bound by the command line too', () => {
    const line = { ...trust, overrides: ['sandbox_workspace_write.network_access=false'] }
    expect(load({ project: 'sandbox_mode = "danger-full-access"' }, line).settings).not.toHaveProperty('sandbox_mode')
  })

  test('says nothing about trust or profiles', () => {
    const project = 'profile = "x"\n[profiles.x]\nmodel = "x"\n[projects."/"]\ntrust_level = "trusted"'
    const config = load({ project }, trust)
    expect(config.settings).toEqual({})
    expect(config.ignored).toMatchObject([{ keys: ['profile', 'profiles', 'projects'] }])
  })

  test('is refused if its file is a link to outside', () => {
    const root = tempDir({ '.portcullis/.keep': '' })
    symlinkSync(join(tempDir({ 'config.toml': 'model = "x"' }), 'config.toml'), join(root, '.portcullis/config.toml'))
    const places = {
      config: '/nowhere',
      managed: '/nowhere',
      managedClaude: '/nowhere',
      codex: '/nowhere',
      home: '/nowhere',
      state: '/nowhere',
    }
    const sources = { places, project: { root, workspace: root } }
    expect(() => loadConfig({ ...sources, trust: true })).toThrow('outside the repository')
    expect(loadConfig(sources)).toMatchObject({ settings: {}, ignored: [{ keys: [] }] })
  })
})

describe('what the machine’s file fixes', () => {
  const managed = 'model = "theirs"\nsandbox_mode = "workspace-write"\n[sandbox_workspace_write]\nwritable_roots = []'

  test('counts if nobody else sets anything', () => {
    expect(load({ managed }).settings).toEqual({
      model: 'theirs',
      sandbox_mode: 'workspace-write',
      sandbox_workspace_write: { writable_roots: [] },
    })
  })
  test('can be made stricter by anybody', () => {
    expect(load({ managed, user: 'sandbox_mode = "read-only"' }).settings.sandbox_mode).toBe('read-only')
  })
  test('is not loosened by the user’s file, and an error says so', () => {
    const user =
      'model = "mine"\nsandbox_mode = "danger-full-access"\n[sandbox_workspace_write]\nwritable_roots = ["/srv"]'
    const config = load({ managed, user })
    expect(config.settings).toEqual(load({ managed }).settings)
    expect(leftOut(config)).toEqual([
      expect.stringMatching(/^model: .*config\.toml fixes it$/),
      expect.stringMatching(/^sandbox_mode: /),
      expect.stringMatching(/^sandbox_workspace_write\.writable_roots: /),
    ])
  })
  test('is not loosened by a trusted repository', () => {
    const config = load({ managed, project: 'sandbox_mode = "danger-full-access"' }, { trust: true })
    expect(config.settings.sandbox_mode).toBe('workspace-write')
  })
  test.each<readonly [string, Parameters<typeof load>[1]]>([
    ['-c', { overrides: ['sandbox_mode=danger-full-access'] }],
    ['a flag', { flags: [{ flag: '--sandbox', settings: { sandbox_mode: 'danger-full-access' } }] }],
    [
      'no sandbox at all',
      { flags: [{ flag: '--x', settings: { sandbox_mode: 'danger-full-access', approval_policy: 'bypass' } }] },
    ],
  ])('is an error to go beyond by %s, with file and line', (_, line) => {
    expect(refusal({ managed }, line)).toMatch(/exceeds the bound that .*\/config\.toml:2 sets with sandbox_mode/)
  })
  test('holds against a run without a sandbox even if only the network is fixed', () => {
    const network = '[sandbox_workspace_write]\nnetwork_access = false'
    const flags = [{ flag: '--sandbox', settings: { sandbox_mode: 'danger-full-access' as const } }]
    expect(refusal({ managed: network }, { flags })).toContain(':2 sets with sandbox_workspace_write.network_access')
  })
  test('holds against a run without approvals if only approvals are fixed', () => {
    const flags = [{ flag: '--x', settings: { approval_policy: 'bypass' as const } }]
    expect(refusal({ managed: 'approval_policy = "never"' }, { flags })).toContain('sets with approval_policy')
  })
  test('holds against --add-dir, which otherwise adds to the configured directories', () => {
    expect(refusal({ managed }, { addDirs: ['/srv'] })).toMatch(/^--add-dir: exceeds the bound that .*:4 sets/)
    const user = '[sandbox_workspace_write]\nwritable_roots = ["/srv"]'
    expect(load({ user }, { addDirs: ['/opt'] }).settings).toEqual({
      sandbox_workspace_write: { writable_roots: ['/srv', '/opt'] },
    })
  })
  test('survives -c that empties its table', () => {
    const overrides = ['sandbox_workspace_write={}']
    expect(load({ managed }, { overrides }).settings).toMatchObject({ sandbox_workspace_write: { writable_roots: [] } })
  })
})

describe('a profile', () => {
  const user =
    'model = "usual"\nmodel_reasoning_effort = "low"\n[profiles.ci]\nmodel = "cheap"\n[profiles.big]\nmodel = "dear"\n'

  test('that -p names is applied on top of the file', () => {
    expect(load({ user }, { profile: 'ci' }).settings).toEqual({ model: 'cheap', model_reasoning_effort: 'low' })
  })
  test('may be named by the file, and -p wins', () => {
    expect(load({ user: `profile = "ci"\n${user}` }).settings.model).toBe('cheap')
    expect(load({ user: `profile = "ci"\n${user}` }, { profile: 'big' }).settings.model).toBe('dear')
  })
  test('is reported with its own line in the file', () => {
    const file = '[profiles.ci]\nmodel = "cheap"\n\n[profiles.big]\nmodel_reasoning_effort = [\n1]\n'
    expect(refusal({ user: file })).toContain("config.toml:5: key 'profiles.big.model_reasoning_effort'")
  })
  test('may be a file of its own', () => {
    const config = tempDir({ 'config.toml': 'model = "usual"', 'deep-review.config.toml': 'model = "dear"' })
    const project = { root: '/nowhere', workspace: '/nowhere' }
    const places = {
      config,
      managed: '/nowhere',
      managedClaude: '/nowhere',
      codex: '/nowhere',
      home: '/nowhere',
      state: '/nowhere',
    }
    expect(loadConfig({ places, project, profile: 'deep-review' }).settings).toEqual({ model: 'dear' })
    expect(() => loadConfig({ places, project, profile: '../deep-review' })).toThrow('there is no profile')
  })
  test('that doesn’t exist is an error that names a similar one', () => {
    expect(refusal({ user }, { profile: 'c1' })).toMatch(/there is no profile 'c1'; did you mean 'ci'\?/)
    expect(refusal({ user }, { profile: 'nightly' })).toContain('known profiles: ci, big')
    expect(refusal({}, { profile: 'ci' })).toContain('[profiles.ci]')
  })
  test('is checked even if it is not used', () => {
    expect(refusal({ user: '[profiles.ci]\nmodle = "x"' })).toMatch(
      /config\.toml:2: unknown key 'profiles\.ci\.modle'; did you mean 'model'\?/,
    )
    expect(refusal({ user: '[profiles.ci]\nprofile = "x"' })).toContain("unknown key 'profiles.ci.profile'")
  })
  test('is overridden by -c, and overrides a trusted repository', () => {
    const file = '[profiles.ci]\nsandbox_mode = "read-only"\nmodel = "cheap"'
    const line = { profile: 'ci', trust: true, overrides: ['model=other'] }
    const config = load({ user: file, project: 'sandbox_mode = "workspace-write"' }, line)
    expect(config.settings).toEqual({ sandbox_mode: 'read-only', model: 'other' })
  })
  test('can’t bypass what the machine’s owner fixed', () => {
    const file = '[profiles.ci]\nsandbox_mode = "danger-full-access"'
    const config = load({ managed: 'sandbox_mode = "read-only"', user: file }, { profile: 'ci' })
    expect(config.settings).toEqual({ sandbox_mode: 'read-only' })
    expect(leftOut(config)).toHaveLength(1)
  })
})
