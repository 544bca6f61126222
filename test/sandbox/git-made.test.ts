import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test as unit } from 'vitest'
import { createMetadataGuard } from '../../sandbox/git/guard.ts'
import { encodeText } from '../../sandbox/index.ts'
import { parseConfigFile, writeConfigFile } from '../../sandbox/git/config-file.ts'
import { withoutSecrets } from '../../sandbox/git/config-clean.ts'
import { parseIndex } from '../../sandbox/git/index-file.ts'
import { evil, gitAttacks, useOnHost } from './git-attacks.ts'
import { git, initialise, ownStateDirectory, repository } from './git-repositories.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

ownStateDirectory()

test.each(gitAttacks)('disarmed before the host sees it: %s', async (_, script, where) => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  await run(sandbox, evil + script)
  useOnHost(join(workspace, where))
  // This uses a shell, because Node can't write a name that isn't UTF-8.
  spawnSync('sh', ['-c', 'cd caf* && git add -A && git -c user.name=a -c user.email=a@b commit --allow-empty -qm x'], {
    cwd: workspace,
  })
  for (const place of ['sentinel', 'sub/sentinel', 'n/sentinel'])
    expect(existsSync(join(workspace, place)), place).toBe(false)
})

test('an exec line that a command adds to a rebase in the host’s repository is not imported', async () => {
  const workspace = await repository()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  await run(
    sandbox,
    `for name in b c; do git commit -q --allow-empty -m $name; done; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -qi HEAD~2; echo "exec touch $PWD/sentinel" >> .git/rebase-merge/git-rebase-todo; echo "x touch $PWD/sentinel" >> .git/rebase-merge/git-rebase-todo`,
  )
  expect(await readFile(join(workspace, '.git/rebase-merge/git-rebase-todo'), 'utf8')).toContain('pick')
  spawnSync('git', ['rebase', '--continue'], { cwd: workspace, env: { ...process.env, GIT_EDITOR: 'true' } })
  expect(existsSync(join(workspace, 'sentinel'))).toBe(false)
  expect(git(workspace, 'log', '-1', '--format=%s', 'main')).toBe('c')
})

test('pipes called .git, HEAD, config or index block nothing', async () => {
  const workspace = await repository()
  await mkdir(join(workspace, 'host'))
  initialise(join(workspace, 'host'))
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const script = `mkdir s; mkfifo s/.git; git init -q x; mkfifo x/.git/config.worktree; rm x/.git/HEAD; mkfifo x/.git/HEAD x/.git/index
    for name in HEAD index packed-refs config ORIG_HEAD shallow; do rm -f .git/$name; mkfifo .git/$name; done; mkdir -p .claude; echo e > .claude/settings.json`
  const { result } = await run(sandbox, script)
  expect(result.status).toBe('exited')
  expect(existsSync(join(workspace, 's/.git'))).toBe(false)
  expect(existsSync(join(workspace, '.claude/settings.json'))).toBe(false)
  expect(git(workspace, 'log', '-1', '--format=%s')).toBe('first')
  await sandbox.close()
  const next = await openFor({ mode: 'workspace-write', workspace })
  expect((await run(next, 'git log -1 --format=%s')).stdout).toBe('first\n')
})

test('a command that removes all of git removes nothing of the host’s', async () => {
  const workspace = await repository()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const { result } = await run(sandbox, 'rm -rf .git/* 2>/dev/null; true')
  expect(result.denials).toMatchObject([{ subject: expect.stringContaining('that git cannot read') }])
  expect(git(workspace, 'branch', '--format=%(refname:short)')).toBe('main\nother')
  expect((await run(sandbox, 'git log -1 --format=%s')).stdout).toBe('first\n')
})

test('an index that would write into .git is not imported', async () => {
  const workspace = await repository()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const script = `oid=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100755,$oid,xgit/hooks/pre-commit
    python3 - <<'P'
import hashlib
b = open('.git/index', 'rb').read()[:-20].replace(b'xgit/hooks/pre', b'.git/hooks/pre')
open('.git/index', 'wb').write(b + hashlib.sha1(b).digest())
P`
  const { result } = await run(sandbox, script)
  expect(result.denials).toMatchObject([{ subject: expect.stringContaining('index') }])
  expect(git(workspace, 'ls-files')).toBe('file')
})

unit.each([
  ['.claude', 0o555],
  ['sub/.git/hooks', 0o111],
  ['sub/.git/hooks', 0o000],
])('what is planted in %s with mode %o goes, for a user whom modes stop', async (place, mode) => {
  const workspace = await temporaryDirectory()
  const [uid, gid] = [65534, 65534]
  const isRoot = process.geteuid?.() === 0
  const state = join(workspace, '../', `${workspace.split('/').at(-1)}-state`)
  await mkdir(state)
  process.env['XDG_STATE_HOME'] = state
  if (isRoot) for (const path of [workspace, state]) chownSync(path, uid, gid)
  if (isRoot) {
    process.setegid?.(gid)
    process.seteuid?.(uid)
  }
  try {
    const guard = createMetadataGuard([workspace], [join(workspace, '.claude')])
    guard.trust()
    await mkdir(join(workspace, place), { recursive: true })
    await writeFile(join(workspace, place, 'pre-commit'), 'evil')
    chmodSync(join(workspace, place), mode)
    expect(guard.review()).toMatchObject([{ kind: 'quarantine' }])
    const there = join(workspace, place)
    if (existsSync(there)) chmodSync(there, 0o700)
    expect(existsSync(join(there, 'pre-commit'))).toBe(false)
  } finally {
    if (isRoot) {
      process.seteuid?.(0)
      process.setegid?.(0)
    }
  }
})

unit('a config is read like git reads it, and written with the same meaning', async () => {
  const workspace = await repository()
  const texts = [
    '[a]b=c\n[A "B\\"x"] d = "e;#" f \\\n g ; h\n\tlast',
    '\ufeff[x.y]\r\n\tk = v\r\n[x "Y"] z = "a\\tb\\n" # c\n',
    '[a]\n; c\n# d\nx = a  b  \n',
    '[a "größe"]\nx = ö\u2028\u00a0\n[a "gr\udcf6\udcdfe"]\nx = \udcff',
  ]
  for (const text of texts) {
    const file = join(workspace, 'config')
    const listed = async (content: Buffer): Promise<string> => {
      await writeFile(file, content)
      return spawnSync('git', ['config', '--file', file, '--list', '-z'], { encoding: 'latin1' }).stdout
    }
    const entries = parseConfigFile(text)
    expect(await listed(encodeText(writeConfigFile(entries ?? [])))).toBe(await listed(encodeText(text)))
  }
  for (const text of ['[a\nb=c', 'x = y', '[a]\nb = "c', '[a]\n1 = 2']) expect(parseConfigFile(text)).toBeUndefined()
})

unit('only the user info is removed from addresses', () => {
  const entries = parseConfigFile(`[remote "o"]
    url = https://tok@h/p
    pushurl = ssh://git:pw@h/p
    fetch = +refs/heads/*:refs/remotes/o/*
[url "https://a:b@h/"]
    insteadOf = x:
[credential "https://h"]
    helper = store
[http "https://h/"]
    proxy = http://u:p@proxy:1
    sslKey = /k`)
  const { kept } = withoutSecrets(entries ?? [])
  expect(writeConfigFile(kept)).toBe(
    '[remote "o"]\n\turl = "https://h/p"\n\tpushurl = "ssh://git@h/p"\n\tfetch = "+refs/heads/*:refs/remotes/o/*"\n[url "https://h/"]\n\tinsteadof = "x:"\n[http "https://h/"]\n\tproxy = "http://proxy:1"\n',
  )
})

unit('each version of git’s index can be read', async () => {
  const workspace = await repository()
  for (const version of ['2', '3', '4']) {
    git(workspace, 'update-index', '--index-version', version)
    const entries = parseIndex(await readFile(join(workspace, '.git/index')), 20)
    expect(entries?.map(({ path, mode }) => [path, mode])).toEqual([['file', 0o100644]])
  }
})
