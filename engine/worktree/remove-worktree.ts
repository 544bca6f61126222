import { realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Sandbox, SandboxPolicy } from '../../sandbox/index.ts'
import type { Worktree } from '../session/worktree-record.ts'
import { runGit } from '../core/sandboxed-git.ts'
import { withRepository, type OpenSandbox } from './make-worktree.ts'
import { adminOf, commonDirectory } from './worktree-paths.ts'
import { counted } from '../core/text/counted.ts'

/**
 * Describes which uncommitted files and commits would be lost if a worktree were removed; undefined if none would be. Files that git ignores don't
 * count. If git can't tell, a loss is assumed.
 *
 * @param sandbox the sandbox in which the run works in this worktree
 */
export async function whatWouldBeLost(
  { path, git }: Worktree,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<string | undefined> {
  const look = { cwd: path, readOnly: true, signal }
  const status = await runGit(sandbox, ['status', '--porcelain', '--untracked-files=all'], look)
  if (!status.ok) return `its contents, which git can't list (${status.complaint})`
  const range = git === undefined ? [] : [`refs/heads/${git.branch}`, 'HEAD', '--not', git.base]
  const commits = range.length === 0 ? undefined : await runGit(sandbox, ['rev-list', '--count', ...range], look)
  if (commits?.ok === false) return `its commits, which git can't count (${commits.complaint})`
  const changed = status.output === '' ? 0 : status.output.split('\n').length
  const made = Number(commits?.output ?? 0)
  const lost = [
    ...(changed === 0 ? [] : [counted(changed, 'uncommitted file')]),
    ...(made === 0 ? [] : [counted(made, 'commit')]),
  ]
  return lost.length === 0 ? undefined : lost.join(' and ')
}

/**
 * Removes a worktree and its branch. This program removes the files itself, because git runs in a sandbox, where it can't remove protected files. A worktree
 * is removed only if it is still the one that was created.
 *
 * @param root the root of the repository's working tree
 * @returns why the worktree was not removed completely; undefined if it was
 */
export async function removeWorktree(
  { path, git }: Required<Worktree>,
  root: string,
  policy: SandboxPolicy,
  open: OpenSandbox,
): Promise<string | undefined> {
  const common = commonDirectory(root)
  const own = adminOf(path)
  if (common === undefined || own !== git.admin || dirname(own) !== join(common, 'worktrees')) {
    return `${path} is no longer the worktree that was created there, so it was left unchanged.`
  }
  if (realpathSync(path) !== path) return `${path} now leads through a symlink, so it was left unchanged.`
  rmSync(path, { recursive: true, force: true })
  rmSync(own, { recursive: true, force: true })
  const deleted = await withRepository(root, [], policy, open, async (sandbox) =>
    runGit(sandbox, ['branch', '--quiet', '-D', '--', git.branch], { cwd: root, readOnly: false }),
  )
  if ('problem' in deleted) return `The branch ${git.branch} was not deleted: ${deleted.problem}`
  return deleted.ok ? undefined : `The branch ${git.branch} was not deleted: ${deleted.complaint}`
}
