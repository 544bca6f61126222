import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { openSandbox, parsePolicy, protectedTable } from '../../../sandbox/index.ts'
import { toolchainPlaces } from '../../../sandbox/tree/toolchains.ts'
import { isWithin } from '../../../sandbox/paths.ts'
import { codeOf, closeLater, run, testInBubblewrap, type Ran } from '../helpers.ts'

const secret = 'hunter2-of-the-host'

/** A home directory that isn't below /tmp, and is the caller's until the test ends. */
async function makeHome(): Promise<string> {
  const base = await realpath(await mkdtemp('/var/tmp/portcullis-home-'))
  const before = { HOME: process.env['HOME'], PATH: process.env['PATH'], JAVA_HOME: process.env['JAVA_HOME'] }
  const home = join(base, 'user')
  await mkdir(join(home, 'project'), { recursive: true })
  process.env['HOME'] = home
  onTestFinished(async () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await rm(base, { recursive: true, force: true })
  })
  return home
}

async function put(path: string, content: string, mode = 0o644): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content, { mode })
  return path
}

async function inside(
  home: string,
  script: string,
  policy: { readonly home?: 'open'; readonly readableRoots?: string[] } = {},
): Promise<Ran> {
  const sandbox = closeLater(
    await openSandbox(
      parsePolicy({ mode: 'workspace-write', workspace: join(home, 'project'), home: 'closed', ...policy }),
    ),
  )
  return run(sandbox, script)
}

test('no toolchain is, holds or is in a place with credentials', () => {
  const secrets = protectedTable().filter(({ what }) => what === 'credentials')
  const both = toolchainPlaces().flatMap((place) =>
    secrets.filter(({ at }) => isWithin(at, place) || isWithin(place, at)).map(({ at }) => [place, at]),
  )
  expect(both).toEqual([])
  expect(toolchainPlaces().filter((place) => !place.startsWith('~/'))).toEqual([])
})

testInBubblewrap('nothing of a home directory is there but toolchains, whatever its name', async () => {
  const home = await makeHome()
  const names = ['token.pickle', '.config/new-tool/session', 'Documents/taxes.txt', '.env', '.cargo/credentials.toml']
  for (const name of names) await put(join(home, name), secret)
  await put(join(home, '.cargo/registry/index'), 'a crate')
  const { stdout } = await inside(home, `cat ~/.cargo/registry/index; grep -rs hunter2 ~ /var /srv /home; ls -A ~`)
  expect(stdout).toBe('a crate.cargo\nproject\n')
  const open = await inside(home, 'cat ~/token.pickle', { home: 'open' })
  expect(open.stdout).toBe(secret)
})

testInBubblewrap('commands can write in their home directory, and nothing of it is left on this machine', async () => {
  const home = await makeHome()
  const sandbox = closeLater(
    await openSandbox(parsePolicy({ mode: 'read-only', workspace: join(home, 'project'), home: 'closed' })),
  )
  expect(codeOf(await run(sandbox, 'mkdir -p ~/.config/tool && echo 1 > ~/.config/tool/state'))).toBe(0)
  expect((await run(sandbox, 'cat ~/.config/tool/state; echo 2 > ~/project/file')).stdout).toBe('1\n')
  await expect(readFile(join(home, '.config/tool/state'))).rejects.toThrow('ENOENT')
})

testInBubblewrap(
  'a program on the PATH is there with what it needs: its directory, what links lead to, its interpreter',
  async () => {
    const home = await makeHome()
    const venv = join(home, 'envs/one')
    await put(join(venv, 'lib/greeting'), 'from the library')
    await put(
      join(home, 'builds/interpreter/bin/run'),
      '#!/bin/sh\nshift; echo interpreted; cat "$(dirname "$0")/../lib/data"\n',
      0o755,
    )
    await put(join(home, 'builds/interpreter/lib/data'), 'with data\n')
    await put(join(venv, 'bin/script'), `#!${join(home, 'builds/interpreter/bin/run')}\n`, 0o755)
    await put(join(venv, 'bin/greet'), '#!/bin/sh\ncat "$(dirname "$0")/../lib/greeting"\n', 0o755)
    await put(join(home, 'builds/other/tool.sh'), '#!/bin/sh\necho linked\n', 0o755)
    await put(join(home, 'builds/other/private'), secret)
    await symlink(join(home, 'builds/other/tool.sh'), join(venv, 'bin/linked'))
    process.env['PATH'] = `${join(venv, 'bin')}:${process.env['PATH']}`
    const { stdout } = await inside(home, 'greet; echo; linked; script; cat ~/builds/other/private; ls -A ~')
    expect(stdout).toBe('from the library\nlinked\ninterpreted\nwith data\nbuilds\nenvs\nproject\n')
  },
)

testInBubblewrap(
  'the PATH shows no home directory, nothing with credentials, and no more of them than the programs',
  async () => {
    const home = await makeHome()
    await put(join(home, 'bin/mine'), '#!/bin/sh\necho mine\n', 0o755)
    await put(join(home, 'secrets.txt'), secret)
    await put(join(home, '.docker/config.json'), secret)
    await put(join(home, '.docker/bin/plugin'), '#!/bin/sh\necho plugin\n', 0o755)
    await put(join(home, 'link/bin/x'), '', 0o755)
    await symlink(join(home, 'secrets.txt'), join(home, 'link/bin/y'))
    process.env['PATH'] = `${join(home, 'bin')}:${join(home, '.docker/bin')}:${process.env['PATH']}`
    const { stdout } = await inside(home, 'mine; cat ~/secrets.txt ~/.docker/config.json; ls -A ~ ~/.docker')
    expect(stdout).not.toContain(secret)
    expect(stdout).toContain('mine\n')
  },
)

testInBubblewrap(
  'a home directory that is reached by a link is closed at both paths, and so are toolchains that are linked',
  async () => {
    const home = await makeHome()
    const linked = join(dirname(home), 'linked')
    await symlink(home, linked)
    await put(join(home, 'secret'), secret)
    await put(join(dirname(home), 'disk/go/pkg/module'), 'a module\n')
    await symlink(join(dirname(home), 'disk/go'), join(home, 'go'))
    process.env['HOME'] = linked
    const { stdout } = await inside(
      home,
      `cat ~/secret ${home}/secret; cat ~/go/pkg/module ${home}/go/pkg/module; ls -A ~`,
    )
    expect(stdout).toBe('a module\na module\ngo\nproject\n')
  },
)

testInBubblewrap('variables that name toolchains show them, but no home directory', async () => {
  const home = await makeHome()
  await put(join(home, 'jdk/release'), 'a JDK\n')
  await put(join(home, 'secret'), secret)
  process.env['JAVA_HOME'] = join(home, 'jdk')
  expect((await inside(home, 'cat $JAVA_HOME/release')).stdout).toBe('a JDK\n')
  process.env['JAVA_HOME'] = home
  expect((await inside(home, 'cat ~/secret')).stdout).toBe('')
})

testInBubblewrap('a directory that the policy names is there', async () => {
  const home = await makeHome()
  await put(join(home, 'data/file'), 'named\n')
  await put(join(home, 'data-too/file'), secret)
  const { stdout } = await inside(home, 'cat ~/data/file ~/data-too/file', { readableRoots: [join(home, 'data')] })
  expect(stdout).toBe('named\n')
})

testInBubblewrap('of /etc, only what every user may read is there, even if root runs the commands', async () => {
  const home = await makeHome()
  const { stdout } = await inside(
    home,
    'cat /etc/passwd > /dev/null && echo users; cat /etc/shadow /etc/gshadow | wc -c; ls /etc/ssl/private | wc -l',
  )
  expect(stdout).toBe('users\n0\n0\n')
})

testInBubblewrap(
  'a file or a program that a command misses because it is not shown is named, with what shows it',
  async () => {
    const home = await makeHome()
    await put(join(home, 'data/model'), 'a model')
    await put(join(home, '.docker/config.json'), secret)
    await put(join(home, '.docker/plugin'), '#!/bin/sh\n', 0o755)
    process.env['PATH'] = `${join(home, '.docker')}:${process.env['PATH']}`
    const shows = (path: string): unknown => ({
      kind: 'path',
      subject: path,
      rule: 'home: closed',
      certainty: 'suspected',
      remedy: { kind: 'add-root', to: 'readableRoots', path },
    })
    const missed = await inside(home, 'cat ~/data/model; cat ~/data/other')
    expect(missed.result.denials).toEqual([shows(join(home, 'data/model'))])
    const program = await inside(home, 'plugin')
    expect(program.result.denials).toEqual([shows(join(home, '.docker/plugin'))])
    expect((await inside(home, 'cat ~/data/model || true')).result.denials).toEqual([])
  },
)
