import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UserError } from '../../../engine/core/user-error.ts'
import { copyGit } from '../../../engine/transaction/copy-git.ts'
import { openTreeBudget, type TreeBudget } from '../../../sandbox/index.ts'
import { tempDir } from '../../support/temp-dir.ts'

const git = (directory: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' })

/** A repository with branches, a tag and remote branches, none of them packed, and nothing that these tests don't need. */
function manyRefs(): string {
  const directory = tempDir({ 'a.txt': 'a\n' })
  git(directory, 'init', '--quiet', '--initial-branch=main', '--template=')
  git(directory, 'config', 'core.logAllRefUpdates', 'false')
  git(directory, 'add', '.')
  git(directory, 'commit', '--quiet', '-m', 'a')
  for (const name of ['heads/feature/a', 'tags/v1', 'remotes/origin/lfs', 'remotes/origin/objects/a'])
    git(directory, 'update-ref', `refs/${name}`, 'HEAD')
  git(directory, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/lfs')
  appendFileSync(join(directory, 'a.txt'), 'b\n')
  return directory
}

/** Copies the git directory of a tree, and calls a function before each step: before something is listed, looked at, or copied. */
async function copyWhile(tree: string, act: (step: number) => void): Promise<string> {
  const to = tempDir()
  let steps = 0
  const step = (): void => act(steps++)
  const budget = openTreeBudget(tree)
  const list: TreeBudget['list'] = (directory) => {
    step()
    return budget.list(directory)
  }
  const leavesOut = (): boolean => {
    step()
    return false
  }
  await copyGit([{ from: Buffer.from(join(tree, '.git')), to: Buffer.from(join(to, '.git')), leavesOut }], step, {
    ...budget,
    list,
  })
  return to
}

/** What git knows about a repository: its refs, what is checked out, and what is staged. */
const known = (tree: string): string =>
  ['show-ref --head', 'symbolic-ref HEAD', 'ls-files --stage'].map((args) => git(tree, ...args.split(' '))).join('')

test.each([
  ['packs its refs', (tree: string) => git(tree, 'pack-refs', '--all')],
  ['commits, and collects garbage', (tree: string) => git(tree, 'commit', '-qam', 'b') + git(tree, 'gc', '--quiet')],
  [
    'puts a branch in the place of a directory of branches',
    (tree: string) => git(tree, 'branch', '-D', 'feature/a') + git(tree, 'branch', 'feature'),
  ],
])('a copy is what the repository was at one moment, whenever git %s meanwhile', async (_, change) => {
  const original = manyRefs()
  const before = known(original)
  let steps = 0
  await copyWhile(original, (step) => (steps = step))
  expect(steps).toBeGreaterThan(40)
  for (let at = 0; at <= steps; at += 1) {
    const tree = join(tempDir(), 'tree')
    cpSync(original, tree, { recursive: true, verbatimSymlinks: true })
    const copy = await copyWhile(tree, (step) => {
      if (step === at) change(tree)
    })
    expect([before, known(tree)], `changed at step ${at} of ${steps}`).toContain(known(copy))
  }
})

test('what only a lock shows, or another program writes beside, is not waited for', async () => {
  const tree = manyRefs()
  const [beside, soonGone] = [join(tree, '.git/journal'), join(tree, '.git/queries')]
  mkdirSync(soonGone)
  writeFileSync(join(tree, '.git/index.lock'), '')
  const copy = await copyWhile(tree, (step) => {
    appendFileSync(beside, 'x')
    writeFileSync(join(soonGone, `${step}`), '')
    rmSync(join(soonGone, `${step - 1}`), { force: true })
  })
  expect(known(copy)).toBe(known(tree))
  expect(existsSync(join(copy, '.git/index.lock'))).toBe(false)
  expect(readFileSync(join(copy, '.git/config'))).toEqual(readFileSync(join(tree, '.git/config')))
})

test('a repository whose refs change again and again is named, with what to do', async () => {
  const tree = manyRefs()
  const ref = join(tree, '.git/refs/heads/main')
  const id = readFileSync(ref)
  const copying = copyWhile(tree, () => writeFileSync(ref, id))
  await expect(copying).rejects.toThrow(UserError)
  await expect(copying).rejects.toThrow(
    `The run's private view can't be made: ${ref} was changed again and again by another process. ` +
      'Wait until that has ended, or use --in-place, which works without a view.',
  )
})
