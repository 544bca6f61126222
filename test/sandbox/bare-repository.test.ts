import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testUnless, whyNotRoot } from '../support/needs.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' })
const emptyTree = (bare: string): string =>
  execFileSync('git', ['-C', bare, 'hash-object', '-w', '-t', 'tree', '--stdin'], {
    input: '',
    encoding: 'utf8',
  }).trim()

test('even without a sandbox, git runs nothing that a bare repository among the files names', async () => {
  const workspace = await temporaryDirectory()
  git('init', '-q', workspace)
  git('init', '-q', '--bare', join(workspace, 'docs'))
  writeFileSync(join(workspace, 'evil'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
  for (const [key, value] of [
    ['core.bare', 'false'],
    ['core.worktree', '.'],
    ['core.fsmonitor', join(workspace, 'evil')],
  ] as const)
    git('-C', join(workspace, 'docs'), 'config', key, value)
  const sandbox = await openFor({ mode: 'danger-full-access', workspace })
  const inFolder = 'cd docs; git status >/dev/null 2>&1; ls ran'
  expect((await run(sandbox, inFolder)).stdout).toBe('')
  // This is the control: without the protection, the program runs.
  expect((await run(sandbox, `export GIT_CONFIG_COUNT=0; ${inFolder}`)).stdout).toBe('ran\n')
})

testInBubblewrap('a workspace that is a bare repository works', async () => {
  const workspace = await temporaryDirectory()
  git('init', '-q', '--bare', '-b', 'main', workspace)
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  expect((await run(sandbox, 'git rev-parse --is-bare-repository; git branch -a')).stdout).toBe('true\n')
})

testInBubblewrap('a view of a bare repository works, at the path of the repository', async () => {
  const [workspace, base] = [await temporaryDirectory(), await temporaryDirectory()]
  const source = join(base, 'view')
  for (const path of [workspace, source]) git('init', '-q', '--bare', '-b', 'main', path)
  git('-C', source, 'symbolic-ref', 'HEAD', 'refs/heads/of-the-view')
  const sandbox = await openFor({ mode: 'workspace-write', workspace, views: [{ path: workspace, source }] })
  const { stdout } = await run(sandbox, 'git rev-parse --absolute-git-dir; git symbolic-ref HEAD')
  expect(stdout).toBe(`${workspace}\nrefs/heads/of-the-view\n`)
})

testInBubblewrap(
  'where nothing may be written, no command sets a ref in a bare repository in the workspace',
  async () => {
    const workspace = await temporaryDirectory()
    const bare = join(workspace, 'bare')
    git('init', '-q', '--bare', bare)
    const made = git(
      '-C',
      bare,
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@x',
      'commit-tree',
      '-m',
      'first',
      emptyTree(bare),
    )
    const sandbox = await openFor({ mode: 'read-only', workspace })
    const { stderr } = await run(sandbox, `GIT_DIR=bare git update-ref refs/heads/x ${made}`)
    expect(stderr).toContain('Read-only file system')
    expect(git('-C', bare, 'for-each-ref')).toBe('')
  },
)

testInBubblewrap('a repository that the policy’s git settings name is kept', async () => {
  const workspace = await temporaryDirectory()
  const set = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Ann' }
  const sandbox = await openFor({ mode: 'workspace-write', workspace, environment: { set } })
  const { stdout } = await run(sandbox, 'git config user.name; git config safe.bareRepository')
  expect(stdout).toBe('Ann\nexplicit\n')
})

test('even without a sandbox, git asks no program of the repository which files have changed', async () => {
  const workspace = await temporaryDirectory()
  git('init', '-q', workspace)
  writeFileSync(join(workspace, 'evil'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
  git('-C', workspace, 'config', 'core.fsmonitor', join(workspace, 'evil'))
  const sandbox = await openFor({ mode: 'danger-full-access', workspace })
  expect((await run(sandbox, 'git status >/dev/null 2>&1; ls ran')).stdout).toBe('')
})

testUnless(whyNotRoot('sees repositories in private directories of others'), testInBubblewrap)(
  'a repository in a private directory of another user is refused as that: nobody moved it',
  async () => {
    const workspace = await temporaryDirectory()
    const [closed, repository] = [join(workspace, 'closed'), join(workspace, 'closed/repository.git')]
    mkdirSync(closed)
    git('init', '-q', '--bare', repository)
    chownSync(closed, 65534, 65534)
    chmodSync(closed, 0o700)
    const sandbox = await openFor({ mode: 'workspace-write', workspace })
    await expect(run(sandbox, 'true')).rejects.toThrow(
      `can't mount ${repository}/objects: permission denied. A directory on this path belongs to another user`,
    )
  },
)
