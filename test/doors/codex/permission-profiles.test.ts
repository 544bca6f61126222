import { homedir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { load, type Given } from './configured.ts'
import { codexExec, homeWith } from './door.ts'

describe('a permission profile', () => {
  const workspace = '[permissions.p]\nextends = ":workspace"\n'
  const files = '[permissions.p.filesystem]\n'
  const own = '[permissions.p.filesystem.":workspace_roots"]\n'
  const network = '[permissions.p.network]\n'
  type Said = {
    readonly mode: string
    readonly roots?: string[]
    readonly hosts?: string[]
    readonly all?: boolean | undefined
  }
  const saidBy = (given: Given): object => {
    const { settings, permissions } = load(given)
    const { writable_roots: roots, allowed_hosts: hosts, network_access: all } = settings.sandbox_workspace_write ?? {}
    const deny = permissions.flatMap(({ lists }) => lists?.deny ?? [])
    return { mode: settings.sandbox_mode, roots, hosts, all, reads: settings.sandbox_read?.allow, deny }
  }
  const chosen = (profile: string): Given => ({ file: `default_permissions = "p"\n${profile}` })

  test.each<readonly [profile: string, said: Said & { readonly reads?: string[]; readonly deny?: string[] }]>([
    [workspace, { mode: 'workspace-write' }],
    ['[permissions.p]\nextends = ":read-only"\ndescription = "looks"', { mode: 'read-only' }],
    [`${files}":minimal" = "read"\n${own}"." = "write"`, { mode: 'workspace-write' }],
    [
      `${files}":root" = "deny"\n":tmpdir" = "deny"\n":slash_tmp" = "read"\n":workspace_roots" = "read"`,
      { mode: 'read-only' },
    ],
    [
      `${workspace}${files}glob_scan_max_depth = 3\n"~/.ssh" = "deny"\n${own}"**/.env" = "deny"\n"secrets/**" = "none"\n"docs" = "read"`,
      {
        mode: 'workspace-write',
        deny: [
          'Read(**/.env)',
          'Edit(**/.env)',
          'Read(/<root>/secrets)',
          'Edit(/<root>/secrets)',
          'Edit(/<root>/docs)',
          'Read(/<home>/.ssh)',
          'Edit(/<home>/.ssh)',
        ],
      },
    ],
    [
      `${workspace}${files}"/opt/data" = "read"\n"/srv/out" = { "." = "write", "old" = "read" }\n"/srv/private" = "deny"`,
      {
        mode: 'workspace-write',
        roots: ['/srv/out'],
        reads: ['/opt/data'],
        deny: ['Edit(//srv/out/old)', 'Read(//srv/private)', 'Edit(//srv/private)'],
      },
    ],
    [
      `${workspace}${own}"docs" = "read"\n[permissions.p.workspace_roots]\n"/srv/other" = true\n"/srv/not" = false`,
      { mode: 'workspace-write', roots: ['/srv/other'], deny: ['Edit(/<root>/docs)', 'Edit(//srv/other/docs)'] },
    ],
    [`${workspace}${network}enabled = true`, { mode: 'workspace-write', all: true }],
    [`${workspace}${network}enabled = true\ndomains = { "*" = "allow" }`, { mode: 'workspace-write', all: true }],
    [
      `${workspace}${network}enabled = true\nmode = "full"\nunix_sockets = { "/x" = "deny" }\ndomains = { "a.example" = "allow", "**.b.example" = "allow" }`,
      { mode: 'workspace-write', hosts: ['a.example', 'b.example', '*.b.example'], all: undefined },
    ],
    [
      `${workspace}${network}enabled = true\ndomains = { "x.a.example" = "allow", "b.example" = "allow", "**.a.example" = "deny" }`,
      { mode: 'workspace-write', hosts: ['b.example'], all: undefined },
    ],
    [`${workspace}${network}enabled = true\ndomains = { "a.example" = "deny" }`, { mode: 'workspace-write' }],
    [`${workspace}${network}domains = { "a.example" = "allow" }`, { mode: 'workspace-write' }],
    [
      `${workspace.replace(':workspace', 'base')}${own}"docs" = "write"\n[permissions.base]\nextends = ":workspace"\n[permissions.base.filesystem.":workspace_roots"]\n"docs" = "read"\n"a" = "deny"`,
      { mode: 'workspace-write', deny: ['Read(/<root>/a)', 'Edit(/<root>/a)'] },
    ],
  ])('is said in the words of this program: %j', (profile, said) => {
    const given = chosen(profile)
    const text = JSON.stringify(saidBy(given)).replaceAll(/\/\/[^"]*?portcullis-test-[^/")]*/g, '/<root>')
    const expected = {
      roots: [],
      reads: undefined,
      hosts: undefined,
      all: said.hosts === undefined ? false : undefined,
      deny: [],
      ...said,
    }
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected).replaceAll('<home>', homedir())))
  })

  test.each<readonly [profile: string, why: RegExp]>([
    ['', /there is no permission profile "p"/],
    ['[permissions.p]\nextends = ":danger-full-access"', /no permission profile ":danger-full-access"/],
    ['[permissions.p]\nextends = "q"\n[permissions.q]\nextends = "p"', /"p" extends itself/],
    [`${workspace}sudo = true`, /key 'permissions\.p\.sudo'/],
    [`${workspace}${files}":root" = "write"`, /write everywhere/],
    [`${workspace}${files}":devices" = "deny"`, /':devices' is not understood/],
    [`${workspace}${files}"relative" = "deny"`, /'relative' is not understood/],
    [`${workspace}${files}"/x" = "maybe"`, /permissions\.p\.filesystem\."\/x"/],
    [`${workspace}${files}"/srv/**/*.pem" = "deny"`, /only in the workspace/],
    [`${workspace}${own}"../other" = "deny"`, /leads out/],
    [`${workspace}${own}"*.md" = "read"`, /can only be denied/],
    [`${workspace}${own}"." = "deny"`, /kept from reading the workspace/],
    [`${files}"/x" = "read"`, /kept from reading the workspace/],
    [`${workspace}${own}"a" = "deny"\n"a/b" = "read"`, /is denied, and something in it is not/],
    [`${workspace}${own}"a" = "read"\n"a/b" = "write"`, /is writable, and what is around it is not/],
    [`[permissions.p]\nextends = ":read-only"\n${own}"src" = "write"`, /only if they can write in the workspace/],
    [`${workspace}${network}enabled = true\nmode = "limited"`, /limited to some methods/],
    [`${workspace}${network}enabled = true\nunix_sockets = { "/x" = "allow" }`, /allowed one by one/],
    [`${workspace}${network}enabled = true\nallow_local_binding = true`, /can't be allowed here/],
    [`${workspace}${network}enabled = true\ndomains = { "*" = "allow", "a.example" = "deny" }`, /allowed by a pattern/],
    [`${workspace}${network}proxy_url = "http://x"`, /permissions\.p\.network/],
  ])('that can’t be said ends the run: %j', (profile, why) => expect(() => load(chosen(profile))).toThrow(why))

  const profile = `${workspace}${files}"/srv/out" = "write"\n"/srv/private" = "deny"\n${network}enabled = true\n`
  const denied = { hosts: undefined, reads: undefined, deny: ['Read(//srv/private)', 'Edit(//srv/private)'] }
  const whole = { ...denied, mode: 'workspace-write', roots: ['/srv/out'], all: true }

  test('is chosen on the command line, above what the files say', () => {
    const overrides = ['default_permissions="p"']
    const other = 'default_permissions = ":read-only"\n'
    for (const file of [profile, other + profile, `sandbox_mode = "read-only"\n${profile}`])
      expect(saidBy({ file, overrides, own: 'sandbox_mode = "read-only"' })).toEqual(whole)
    expect(saidBy({ overrides: [...overrides, 'permissions.p.filesystem.":root"="read"'] })).toMatchObject({
      mode: 'read-only',
      all: false,
    })
    expect(() => load({ file: profile, overrides, door: { userConfig: false } })).toThrow(/no permission profile "p"/)
  })

  test('only denies, if the mode is said otherwise', () => {
    const file = `default_permissions = "p"\n${profile}`
    const only = { ...denied, mode: 'read-only', roots: undefined, all: undefined }
    expect(saidBy({ file, overrides: ['sandbox_mode="read-only"'] })).toEqual(only)
    expect(saidBy({ file: `sandbox_mode = "read-only"\n${file}` })).toEqual(only)
    expect(saidBy({ file, flags: [{ flag: '--sandbox', settings: { sandbox_mode: 'workspace-write' } }] })).toEqual({
      ...only,
      mode: 'workspace-write',
    })
    expect(saidBy({ file, overrides: ['default_permissions=":read-only"'] })).toMatchObject({
      mode: 'read-only',
      all: undefined,
      deny: [],
    })
  })

  test('isn’t joined with the other settings of the sandbox', () => {
    const legacy = '[sandbox_workspace_write]\nwritable_roots = ["/srv/legacy"]\nnetwork_access = true\n'
    const plain = { ...denied, mode: 'workspace-write', roots: [], all: false, deny: [] }
    expect(saidBy({ file: `default_permissions = "p"\n${workspace}${legacy}` })).toEqual(plain)
    expect(saidBy({ file: `${workspace}${legacy}`, overrides: ['default_permissions="p"'] })).toEqual(plain)
  })
})

test.skipIf(needsBubblewrap())('what a profile denies stays closed to commands and patches', async () => {
  const run = 'cat secrets/key .env; echo new > docs/a; echo ok > done'
  const cwd = tempDir({ 'secrets/key': 's3cret', 'docs/a': 'old', '.env': 's3cret', run })
  const rules = '[permissions.p.filesystem.":workspace_roots"]\n"secrets" = "deny"\n"docs" = "read"\n"**/.env" = "deny"'
  const home = homeWith({ '.codex/config.toml': `[permissions.p]\nextends = ":workspace"\n${rules}` })
  const ended = await codexExec(['--skip-git-repo-check', '-m', 'gpt-5.5', '-P', 'p', '--json', 'go'], {
    cwd,
    home,
    replies: [
      [call('exec_command', { cmd: 'sh run' })],
      [freeform('apply_patch', '*** Begin Patch\n*** Add File: docs/b\n+x\n*** End Patch\n')],
      [say('end')],
    ],
  })
  expect(ended.code).toBe(0)
  expect(ended.requests).toHaveLength(3)
  expect(JSON.stringify(ended.requests)).not.toContain('s3cret')
  expect(readdirSync(cwd, { recursive: true }).map(String).toSorted()).toEqual(
    ['.env', 'docs', 'docs/a', 'done', 'run', 'secrets', 'secrets/key'].toSorted(),
  )
  expect(readFileSync(join(cwd, 'docs/a'), 'utf8')).toBe('old')
})
