import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdDirectory } from '../../sandbox/git/held-directory.ts'
import { locateHostGit } from '../../sandbox/git/host-git.ts'
import type { ImportSides } from '../../sandbox/git/import-types.ts'
import { moveBranch } from '../../sandbox/git/move-branch.ts'
import { git, repository } from './git-repositories.ts'

function sidesOf(workspace: string): ImportSides {
  const host = holdDirectory(join(workspace, '.git'))
  onTestFinished(() => host.close())
  const found = locateHostGit([])
  if (found === undefined) throw new Error('there is no git')
  return { git: found, host, left: host, oidBytes: 20, scopes: [], run: 'test' }
}

/** A repository, and a commit to which its branch `main` could be moved. */
async function twoCommits(): Promise<{ workspace: string; old: string; now: string }> {
  const workspace = await repository()
  const old = git(workspace, 'rev-parse', 'main')
  return { workspace, old, now: git(workspace, 'commit-tree', '-p', old, '-m', 'next', `${old}^{tree}`) }
}

test.each([['loose'], ['packed']])('a %s branch is moved, and git sees the new commit', async (kind) => {
  const { workspace, old, now } = await twoCommits()
  if (kind === 'packed') git(workspace, 'pack-refs', '--all')
  expect(existsSync(join(workspace, '.git/refs/heads/main'))).toBe(kind === 'loose')
  expect(await moveBranch(sidesOf(workspace), { name: 'refs/heads/main', old, now })).toBe(true)
  expect(git(workspace, 'rev-parse', 'main')).toBe(now)
  expect(await readFile(join(workspace, '.git/refs/heads/main'), 'utf8')).toBe(`${now}\n`)
  expect(existsSync(join(workspace, '.git/refs/heads/main.lock'))).toBe(false)
  git(workspace, 'fsck', '--strict')
})

test('a branch that has changed since is not moved, whatever it is now', async () => {
  const { workspace, old, now } = await twoCommits()
  const sides = sidesOf(workspace)
  const move = (name: string): Promise<boolean> => moveBranch(sides, { name, old, now })
  expect(await move('refs/heads/absent')).toBe(false)
  git(workspace, 'update-ref', 'refs/heads/other', now)
  git(workspace, 'pack-refs', '--all')
  expect(await move('refs/heads/other')).toBe(false)
  git(workspace, 'symbolic-ref', 'refs/heads/link', 'refs/heads/main')
  expect(await move('refs/heads/link')).toBe(false)
  expect(git(workspace, 'rev-parse', 'main', 'other', 'link')).toBe(`${old}\n${now}\n${old}`)
  expect(existsSync(join(workspace, '.git/refs/heads/absent'))).toBe(false)
})

test('a branch that another git has locked is not changed, and the lock stays', async () => {
  const { workspace, old, now } = await twoCommits()
  const lock = join(workspace, '.git/refs/heads/main.lock')
  await writeFile(lock, 'another')
  expect(await moveBranch(sidesOf(workspace), { name: 'refs/heads/main', old, now })).toBe(false)
  expect(git(workspace, 'rev-parse', 'main')).toBe(old)
  expect(await readFile(lock, 'utf8')).toBe('another')
})
