import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test as plain } from 'vitest'
import { evaluateAccess } from '../../sandbox/denials/evaluate-access.ts'
import { hostFileSystem } from '../../sandbox/file-system-view.ts'
import { parsePolicy } from '../../sandbox/index.ts'
import { credentialPlaces } from '../../sandbox/protected/default-places.ts'
import { movingVariables, protectedTable } from '../../sandbox/protected/protected-table.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'
import { runAndLand } from './landed.ts'

beforeEach(async () => {
  process.env['XDG_STATE_HOME'] = await temporaryDirectory()
  return () => {
    delete process.env['XDG_STATE_HOME']
  }
})

function withVariables<T>(variables: Readonly<Record<string, string>>, act: () => T): T {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  try {
    return act()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

plain('each place of the table names its program and its source', () => {
  for (const { at, program, source } of protectedTable()) {
    expect(at, program).toMatch(/^(?:~|\*\*|)\/[^/]/)
    expect(at).not.toMatch(/\/$|\/\/|\0/)
    expect(source, program).toMatch(/^(?:https:\/\/\S+|README\.md)$/)
  }
  const places = protectedTable().map(({ at, what }) => `${what} ${at}`)
  expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([])
})

plain('each variable moves places that are in the table', () => {
  const table = protectedTable().map(({ at }) => at)
  for (const { variable, from } of movingVariables()) {
    const moved = table.filter((at) => at === from || at.startsWith(`${from}/`) || from.startsWith(`${at}/`))
    expect(moved.length, variable).toBeGreaterThan(0)
  }
})

plain.each(
  movingVariables()
    .filter(({ from }) => protectedTable().some(({ at, what }) => what === 'credentials' && from.startsWith(at)))
    .map(({ variable, below }) => [variable, below] as const),
)('credentials that %s/%s moves are hidden at their new place', (variable, below) => {
  const places = withVariables({ [variable]: '/moved/here' }, credentialPlaces)
  expect(places).toContain(below === '' ? '/moved/here' : `/moved/here/${below}`)
})

plain('a variable that names no file of the user hides nothing', () => {
  const places = withVariables({ HISTFILE: '/dev/null', NETRC: 'relative', DOCKER_CONFIG: '/' }, credentialPlaces)
  expect(places.filter((place) => /^\/dev|relative|^\/$/.test(place))).toEqual([])
})

plain('KUBECONFIG is a list, and CARGO_HOME moves the places below it', () => {
  const places = withVariables({ KUBECONFIG: '/a/k1:/b/k2', CARGO_HOME: '/c' }, credentialPlaces)
  expect(places).toEqual(expect.arrayContaining(['/a/k1', '/b/k2', '/c/credentials', '/c/credentials.toml']))
  expect(places).not.toContain('/c')
})

test('a command can’t read credentials in a place that a variable names', async () => {
  const workspace = await temporaryDirectory()
  // This directory is outside /tmp, because commands have a /tmp of their own.
  const elsewhere = await mkdtemp('/var/tmp/sandbox-test-')
  onTestFinished(() => rm(elsewhere, { recursive: true, force: true }))
  await writeFile(join(elsewhere, 'config.json'), 'secret')
  const sandbox = await withVariables({ DOCKER_CONFIG: elsewhere }, () => openFor({ mode: 'read-only', workspace }))
  const { stdout } = await run(sandbox, `cat ${elsewhere}/config.json; ls ${elsewhere}`)
  expect(stdout).not.toMatch(/secret|^config\.json$/m)
})

const settingNames = protectedTable()
  .filter(({ what }) => what === 'settings')
  .map(({ at }) => at.slice('**/'.length).replace('*', 'x'))

test('settings that control other programs don’t land, wherever a command puts them', async () => {
  const workspace = await temporaryDirectory()
  const made = ['', 'a/b/', '**/', '**/c/'].flatMap((below) => settingNames.map((name) => `${below}${name}`))
  const script = made.map((name) => `mkdir -p '${dirname(name)}'; echo evil > '${name}'`).join('\n')
  await runAndLand(workspace, script)
  expect(made.filter((name) => existsSync(join(workspace, name)))).toEqual([])
})

test('a command can’t change existing settings, even below a directory called **', async () => {
  const workspace = join(await temporaryDirectory(), '**', 'project')
  for (const name of settingNames) {
    await mkdir(dirname(join(workspace, '**', name)), { recursive: true })
    await writeFile(join(workspace, '**', name), 'mine')
  }
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const { stdout } = await run(
    sandbox,
    settingNames.map((name) => `(echo evil > '**/${name}') 2>&-; cat '**/${name}'; echo`).join('\n'),
  )
  expect(new Set(stdout.trim().split('\n'))).toEqual(new Set(['mine']))
})

plain('every spelling that a lenient file system accepts for a protected name is refused', () => {
  const policy = parsePolicy({ mode: 'workspace-write', workspace: '/w' })
  const host = { ...hostFileSystem, realPath: (each: string) => each }
  const spellings = [
    '.CLAUDE/x',
    '.Claude./x',
    '.clau\u200bde/x',
    'a/.MCP.json',
    'A.CODE-WORKSPACE',
    '.vscode/TASKS.json',
  ]
  for (const name of spellings) {
    expect(evaluateAccess(policy, { path: `/w/${name}`, want: 'write' }, host).allowed, name).toBe(false)
  }
})

plain('a workspace in a protected place counts as granted by name', () => {
  const home = process.env['HOME'] ?? ''
  const workspace = join(home, '.config/nvim')
  const policy = parsePolicy({ mode: 'workspace-write', workspace })
  const host = { ...hostFileSystem, realPath: (each: string) => each }
  expect(evaluateAccess(policy, { path: join(workspace, 'lua/x.lua'), want: 'write' }, host).allowed).toBe(true)
})
