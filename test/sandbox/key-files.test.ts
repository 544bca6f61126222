import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test as plain, vi } from 'vitest'
import { accessDenial, parsePolicy } from '../../sandbox/index.ts'
import { keyFileAt } from '../../sandbox/protected/key-files.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

const secret = 'c2VjcmV0LWNhbmFyeQ'
let home: string

beforeEach(async () => {
  // The home is not in /tmp, which commands don't see anyway.
  home = await mkdtemp('/var/tmp/sandbox-test-')
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  vi.stubEnv('HOME', home)
  return () => void vi.unstubAllEnvs()
})

plain.each([
  ['.npmrc', '//r/:_authToken=x\nregistry=https://r/\n', 'registry=https://r/\n'],
  ['.npmrc', '//r/:_authToken=${NPM_TOKEN}\nalways-auth=true\n', undefined],
  ['.npmrc', 'registry=https://me:x@r/\n', 'registry=https://r/\n'],
  ['.yarnrc.yml', 'npmAuthToken: "x"\nnodeLinker: pnp\n', 'nodeLinker: pnp\n'],
  ['.yarnrc.yml', 'npmAuthToken: "${TOKEN:-}"\n', undefined],
  ['pip.conf', '[global]\nindex-url = https://me:x@r/simple\n', '[global]\nindex-url = https://r/simple\n'],
  ['NuGet.Config', '<add key="ClearTextPassword" value="x" />\n<a/>\n', '<a/>\n'],
  ['NuGet.Config', '<add key="ClearTextPassword" value="%TOKEN%" />\n', undefined],
  ['bunfig.toml', '[install.scopes]\na = { token = "$TOKEN", url = "https://r" }\n', undefined],
])('of %j with %j is shown %j', async (name, text, shown) => {
  const path = join(home, name)
  await writeFile(path, text)
  expect(keyFileAt(path)?.shown).toBe(shown)
})

test('commands see settings without tokens, and no logins', async () => {
  const workspace = await temporaryDirectory()
  const [npmrc, gha, ordinary] = ['.npmrc', 'gha-creds-0a1b.json', 'package.json'].map((name) => join(workspace, name))
  await writeFile(npmrc ?? '', `//r/:_authToken=${secret}\nregistry=https://r/\n`)
  await writeFile(gha ?? '', `{"url":"${secret}"}`)
  await writeFile(ordinary ?? '', '{"token":"none"}')
  for (const mode of ['workspace-write', 'read-only'] as const) {
    const policy = { mode, workspace }
    const { stdout, stderr } = await run(await openFor(policy), 'cat .npmrc; cat gha-creds-*; cat package.json')
    expect(stdout).toBe('registry=https://r/\n{"token":"none"}')
    expect(stderr).toContain('gha-creds-0a1b.json')
    for (const path of [npmrc, gha]) expect(accessDenial(parsePolicy(policy), path ?? '', 'read')).toBeDefined()
    expect(accessDenial(parsePolicy(policy), ordinary ?? '', 'read')).toBeUndefined()
  }
  const granted = await openFor({ mode: 'workspace-write', workspace, readableRoots: [npmrc ?? ''] })
  expect((await run(granted, 'cat .npmrc')).stdout).toContain(secret)
  expect(await readFile(npmrc ?? '', 'utf8')).toContain(secret)
})

test('the caller’s own git config is shown without secrets, with its includes, and the keys that it names are hidden', async () => {
  const workspace = await temporaryDirectory()
  await mkdir(join(home, '.config/git'), { recursive: true })
  const files = {
    '.gitconfig': `[url "https://${secret}@github.com/"]\n\tinsteadOf = gh:\n[include]\n\tpath = more\n[alias]\n\tst = status\n`,
    more: `[http]\n\textraheader = AUTHORIZATION: basic ${secret}\n\tcookieFile = ~/cookies\n[pull]\n\trebase = true\n`,
    '.config/git/config': `[credential]\n\thelper = store --file=${home}/logins\n[color]\n\tui = never\n`,
    cookies: secret,
    logins: secret,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text)
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const look = `grep -rs ${secret} ${home}; for key in alias.st pull.rebase color.ui url.https://github.com/.insteadOf; do git config $key; done`
  expect((await run(sandbox, look)).stdout).toBe('status\ntrue\nnever\ngh:\n')
  // The next command sees the caller's changes.
  await writeFile(
    join(home, '.gitconfig'),
    `[alias]\n\tst = log\n[url "https://${secret}@example.org/"]\n\tinsteadOf = x:\n`,
  )
  expect((await run(sandbox, look)).stdout).toBe('log\nnever\n')
})

test('commands don’t see a git config in which secrets can’t be found: one that is too large, or that git rejects', async () => {
  const workspace = await temporaryDirectory()
  const entry = `[http]\n\textraheader = AUTHORIZATION: basic ${secret}\n`
  for (const text of [`${entry}${'# filler\n'.repeat(500_000)}`, `${entry}[unclosed\n`]) {
    await writeFile(join(home, '.gitconfig'), text)
    const sandbox = await openFor({ mode: 'workspace-write', workspace })
    expect((await run(sandbox, `head -c 200 ~/.gitconfig`)).stdout).toBe('')
  }
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null')
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  expect((await run(sandbox, 'git config --global --list; echo x > /dev/null; echo $?')).stdout).toBe('0\n')
})
