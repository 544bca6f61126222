import { chmod, readdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { openSandbox, parsePolicy, protectedTable } from '../../../sandbox/index.ts'
import { toolchainPlaces } from '../../../sandbox/tree/toolchains.ts'
import { isWithin } from '../../../sandbox/paths.ts'
import { codeOf, closeLater, run, testInBubblewrap, type Ran } from '../helpers.ts'
import { makeHome, put } from './home.ts'

const secret = 'hunter2-of-the-host'

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
  const both = toolchainPlaces().flatMap(({ place }) =>
    secrets.filter(({ at }) => isWithin(at, place) || isWithin(place, at)).map(({ at }) => [place, at]),
  )
  expect(both).toEqual([])
  expect(toolchainPlaces().filter(({ place }) => !place.startsWith('~/'))).toEqual([])
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

testInBubblewrap('what is said to be hidden is not there, and nothing below it', async () => {
  const home = await makeHome()
  for (const name of ['.aws/credentials', 'granted/.aws/credentials', 'go/pkg/mod/x', 'tools/bin/x', 'tools/.env'])
    await put(join(home, name), secret)
  await symlink(join(home, '.aws'), join(home, 'tools/aws'))
  process.env['PATH'] = `${join(home, 'tools/bin')}:${process.env['PATH']}`
  const policy = { mode: 'workspace-write', workspace: join(home, 'project'), readableRoots: [join(home, 'granted')] }
  const sandbox = closeLater(await openSandbox(parsePolicy({ ...policy, home: 'closed' })))
  const paths = ['', '.aws', '.aws/credentials', 'granted', 'granted/.aws', 'project', 'go', 'go/pkg/mod/x', 'other']
    .concat(['tools', 'tools/.env', 'tools/aws/credentials'])
    .map((name) => join(home, name))
    .concat('/', '/etc/shadow', '/usr', '/proc/1/environ', '/srv', '/var/lib/docker', '/root', dirname(home))
  const hidden = paths.filter((path) => sandbox.hides?.(path) === true)
  expect(hidden).toContain(join(home, '.aws/credentials'))
  expect(hidden).not.toContain(home)
  const { stdout } = await run(sandbox, `find ${hidden.join(' ')} -type f 2>/dev/null; true`)
  expect(stdout).toBe('')
  const open = closeLater(await openSandbox(parsePolicy({ ...policy, home: 'open' })))
  expect(open.hides).toBeUndefined()
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

testInBubblewrap(
  'commands write in caches of toolchains, one after the other, and the caches stay as they are',
  async () => {
    const home = await makeHome()
    const cached = await put(join(home, '.cargo/registry/src/crate/lib.rs'), 'as it was\n')
    await put(join(home, '.cargo/bin/tool'), '#!/bin/sh\n', 0o755)
    await put(join(home, 'go/pkg/mod/read-only/file'), 'a module\n', 0o444)
    await chmod(join(home, 'go/pkg/mod/read-only'), 0o555)
    await put(join(home, 'elsewhere/pkg/mod/file'), 'another\n')
    await symlink(join(home, 'elsewhere'), join(home, 'linked'))
    process.env['GOPATH'] = join(home, 'linked')
    const sandbox = closeLater(
      await openSandbox(parsePolicy({ mode: 'workspace-write', workspace: join(home, 'project'), home: 'closed' })),
    )
    const change = `cd ~/.cargo/registry && echo changed > src/crate/lib.rs && mkdir -p index && echo new > index/new && mv src/crate src/moved
    cat ~/go/pkg/mod/read-only/file; echo x > ~/go/pkg/mod/new; echo y > $GOPATH/pkg/mod/file; rm -r ~/.cargo/bin || echo kept`
    expect((await run(sandbox, change)).stdout).toBe('a module\nkept\n')
    const look =
      'cat ~/.cargo/registry/index/new ~/.cargo/registry/src/moved/lib.rs ~/go/pkg/mod/new $GOPATH/pkg/mod/file'
    expect((await run(sandbox, look)).stdout).toBe('new\nchanged\nx\ny\n')
    const [first, second] = await Promise.all(
      ['one', 'two'].map((name) =>
        run(
          sandbox,
          `cd ~/.cargo/registry && for i in 1 2 3 4 5 6 7 8; do echo ${name} > own; sleep 0.1; cat own; done | uniq -c`,
        ),
      ),
    )
    expect([first?.stdout.trim(), second?.stdout.trim()]).toEqual(['8 one', '8 two'])
    const only = await run(sandbox, 'cat ~/.cargo/registry/src/crate/lib.rs; echo no > ~/.cargo/registry/no', {
      readOnly: true,
    })
    expect([only.stdout, codeOf(only)]).toEqual(['as it was\n', 2])
    await sandbox.close()
    expect(await readFile(cached, 'utf8')).toBe('as it was\n')
    expect(await readdir(join(home, '.cargo/registry'), { recursive: true })).toEqual([
      'src',
      'src/crate',
      'src/crate/lib.rs',
    ])
    expect(await readdir(join(home, 'go/pkg/mod'))).toEqual(['read-only'])
    expect(await readFile(join(home, 'elsewhere/pkg/mod/file'), 'utf8')).toBe('another\n')
  },
)

testInBubblewrap(
  'a workspace in a cache is the workspace, and what the policy names in one stays as it is',
  async () => {
    const home = await makeHome()
    await put(join(home, 'go/pkg/mod/one/file'), 'one\n')
    const { stdout } = await inside(home, 'cat ~/go/pkg/mod/one/file; echo 1 > ~/go/pkg/mod/one/file || echo refused', {
      readableRoots: [join(home, 'go/pkg/mod/one')],
    })
    expect(stdout).toBe('one\nrefused\n')
  },
)

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
