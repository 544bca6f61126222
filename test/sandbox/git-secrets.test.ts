import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test as plainTest } from 'vitest'
import { decodeName, encodePath } from '../../sandbox/path-bytes.ts'
import { holdDirectory } from '../../sandbox/git/held-directory.ts'
import { locateHostGit } from '../../sandbox/git/host-git.ts'
import { readShownConfig } from '../../sandbox/git/shown-config.ts'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { git, initialise, ownStateDirectory, repository } from './git-repositories.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

ownStateDirectory()

const header = (secret: string): string => `[http "https://h/"]\n\textraheader = Authorization: Bearer ${secret}\n`

/** Creates a directory, and uses it as the home directory until the test ends. */
async function useHome(home: string): Promise<void> {
  const before = process.env['HOME']
  await mkdir(home)
  process.env['HOME'] = home
  onTestFinished(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
}

plainTest('every file that a config includes is found as git finds it, by its bytes', async () => {
  const [workspace, conf] = [await repository(), await temporaryDirectory()]
  const home = join(workspace, 'home')
  await useHome(home)
  const put = async (path: string, text: string): Promise<void> =>
    writeFile(encodePath(path), Buffer.from(text, 'utf8'))
  // The same name in three forms: with a byte that isn't UTF-8, and with the characters into which a careless conversion would turn that byte.
  const raw = decodeName(`${conf}/r\xe4w.inc`)
  for (const name of [raw, `${conf}/r\ufffdw.inc`, `${conf}/räw.inc`]) await put(name, header('secret'))
  await put(`${conf}/plain.inc`, '[pull]\n\trebase = true\n')
  await put(`${conf}/broken.inc`, 'not a config file\n')
  await put(`${conf}/top.inc`, '[include]\n\tpath = nested-ü.inc\n\tpath = ../absent.inc\n')
  await put(`${conf}/nested-ü.inc`, header('secret'))
  await put(`${home}/top.inc`, '[include]\n\tpath = below.inc\n[core]\n\tabbrev = 11\n')
  await put(`${home}/below.inc`, header('secret'))
  await put(`${workspace}/.git/own.inc`, header('secret'))
  const includes = [
    Buffer.from(`\n[include]\n\tpath = ${conf}/r`),
    Buffer.from([0xe4]),
    Buffer.from(
      `w.inc\n\tpath = ${conf}/r\ufffdw.inc\n\tpath = ${conf}/plain.inc\n\tpath = ~/top.inc\n\tpath = ${conf}/top.inc\n\tpath = own.inc\n[includeIf "onbranch:none"]\n\tpath = ${conf}/broken.inc\n`,
    ),
  ]
  await writeFile(join(workspace, '.git/config'), Buffer.concat(includes), { flag: 'a' })
  const host = holdDirectory(join(workspace, '.git'))
  const shown = readShownConfig(join(workspace, '.git'), host, locateHostGit([]), ['config'])
  host.close()
  expect(shown.secretFiles.toSorted()).toEqual(
    [
      raw,
      `${conf}/r\ufffdw.inc`,
      `${home}/below.inc`,
      `${conf}/nested-ü.inc`,
      `${workspace}/.git/own.inc`,
      `${conf}/broken.inc`,
    ].toSorted(),
  )
  // The settings in them count nevertheless, except the secrets.
  const text = shown.texts.get('config')
  expect(text).toContain('abbrev = "11"')
  expect(text).toContain('rebase = "true"')
  expect(text).not.toContain('secret')
})

describeInBoth('secrets of repositories in %s', ({ backend, test, readableRoots }) => {
  const openIn = async (workspace: string): Promise<Sandbox> => {
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots })
    return closeLater(await openSandbox(policy, { backend, image }))
  }

  test('a command can’t read files with secrets that an included file includes', async () => {
    const workspace = await repository()
    const home = join(workspace, 'home')
    await useHome(home)
    await mkdir(join(workspace, 'conf'))
    await writeFile(join(workspace, 'conf/top.inc'), '[include]\n\tpath = nested-ü.inc\n')
    await writeFile(join(workspace, 'conf/nested-ü.inc'), header('SECRET-1'))
    await writeFile(join(home, 'top.inc'), '[include]\n\tpath = below.inc\n')
    await writeFile(join(home, 'below.inc'), header('SECRET-2'))
    git(workspace, 'config', '--add', 'include.path', '../conf/top.inc')
    git(workspace, 'config', '--add', 'include.path', '~/top.inc')
    const sandbox = await openIn(workspace)
    const { stdout, stderr } = await run(sandbox, `cat conf/* ${home}/*.inc; git config --list; git status -s`)
    expect(stdout + stderr).not.toContain('SECRET')
    expect(stdout).toContain('path = nested-ü.inc')
    expect(stdout).toContain('path = below.inc')
  })

  /** Fills a repository with secrets in all places in which git or a user may have left some. Each secret names its place. */
  const fill = async (workTree: string, outside: string): Promise<void> => {
    const own = join(workTree, '.git')
    await writeFile(join(outside, 'a.inc'), header('SECRET-include'))
    await writeFile(join(outside, 'key.pem'), 'SECRET-key\n')
    await writeFile(join(outside, 'linked'), 'https://u:SECRET-link@h/x\n')
    git(workTree, 'config', 'include.path', join(outside, 'a.inc'))
    git(workTree, 'config', 'extensions.worktreeConfig', 'true')
    git(workTree, 'config', '--worktree', 'http.https://k/.extraheader', 'Authorization: Bearer SECRET-worktree')
    git(workTree, 'config', 'remote.origin.url', 'https://u:SECRET-url@h/x')
    git(workTree, 'config', 'http.sslKey', join(outside, 'key.pem'))
    git(workTree, 'worktree', 'add', '-q', join(workTree, 'linked-tree'), 'other')
    await mkdir(join(own, 'info'), { recursive: true })
    await writeFile(join(own, 'info/own.inc'), header('SECRET-inside'))
    git(workTree, 'config', '--add', 'include.path', 'info/own.inc')
    await writeFile(join(own, 'config.bak'), header('SECRET-backup'))
    await symlink(join(outside, 'linked'), join(own, 'MERGE_MSG'))
    const oid = git(workTree, 'rev-parse', 'HEAD')
    await writeFile(join(own, 'FETCH_HEAD'), `${oid}\t\tbranch main of https://u:SECRET-fetch@h/x\n`)
    for (const log of ['logs/HEAD', 'worktrees/linked-tree/logs/HEAD']) {
      const line = `${oid} ${oid} a <a@b> 1 +0000\tpull https://u:SECRET-${log.slice(0, 4)}@h/x: Fast-forward\n`
      await appendFile(join(own, log), line)
    }
    await appendFile(join(own, 'config'), '# SECRET-comment\n')
  }
  const secretsSeen = async (sandbox: Sandbox, workspace: string): Promise<readonly string[]> => {
    const { stdout, stderr } = await run(sandbox, `grep -rhaso 'SECRET-[a-z]*' ${workspace}; true`)
    expect(stderr).toBe('')
    return [...new Set(stdout.split('\n').filter(Boolean))]
  }

  test('a repository without a private directory shows no secrets, and git can read it', async () => {
    const workspace = await repository()
    const outside = join(workspace, 'outside')
    await mkdir(outside)
    const nested = join(workspace, 'nested')
    initialise(nested)
    await fill(nested, outside)
    const sandbox = await openIn(workspace)
    const read =
      'git -C nested log --format=%s && git -C nested reflog | tail -1 && git -C nested remote get-url origin'
    const { stdout } = await run(sandbox, `${read} && git -C nested/linked-tree log --format=%s`)
    expect(stdout).toMatch(/^first\n.*commit \(initial\): first\nhttps:\/\/h\/x\nfirst\n$/)
    expect(await secretsSeen(sandbox, workspace)).toEqual([])
    // What git writes later is treated in the same way.
    await appendFile(join(nested, '.git/FETCH_HEAD'), 'https://u:SECRET-later@h/x\n')
    expect(await secretsSeen(sandbox, workspace)).toEqual([])
  })

  test.each([
    ['whose HEAD is a symlink', 'ln -sf refs/heads/main .git/HEAD'],
    [
      'whose refs are in a reftable',
      'git config extensions.refStorage reftable; mkdir .git/reftable; echo https://u:SECRET-table@h > .git/reftable/tables.list',
    ],
    ['whose config git can’t read', 'echo "[broken" >> .git/config'],
  ])('the workspace’s own repository %s shows no secrets', async (_, change) => {
    const workspace = await repository()
    const outside = join(workspace, 'outside')
    await mkdir(outside)
    await fill(workspace, outside)
    execFileSync('sh', ['-c', change], { cwd: workspace })
    expect(await secretsSeen(await openIn(workspace), workspace)).toEqual([])
  })
})
