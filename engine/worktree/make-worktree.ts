import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  makeDirectories,
  parsePolicy,
  SandboxError,
  type KnownPlaces,
  type Sandbox,
  type SandboxPolicy,
} from '../../sandbox/index.ts'
import type { Worktree } from '../session/worktree-record.ts'
import { runGit } from '../core/sandboxed-git.ts'
import { adminOf, repositoryOf } from './worktree-paths.ts'

/** Opens a sandbox in the same way that the run's own sandbox is opened. */
export type OpenSandbox = (policy: SandboxPolicy, known?: KnownPlaces) => Promise<Sandbox>

/** The worktree to make. */
type Wanted = {
  /** The root of the repository's working tree. */
  readonly root: string
  readonly path: string
  readonly branch: string
  /** The commit to start from, in any notation that git understands. */
  readonly base: string
}

/** The worktree, or the reason why it was not created, worded for the model. */
type Made = { readonly worktree: Required<Worktree> } | { readonly problem: string }

/**
 * Creates a worktree on a new branch. Git runs in the run's sandbox, extended so that it can write to the repository and to the folder in which the
 * worktree is created. If the repository's configuration makes git run other programs, they are confined too.
 *
 * @param policy the run's policy
 */
export async function makeWorktree(
  { root, path, branch, base }: Wanted,
  policy: SandboxPolicy,
  open: OpenSandbox,
  signal: AbortSignal,
): Promise<Made> {
  makeDirectories(dirname(path))
  const folder = realpathSync(dirname(path))
  const place = join(folder, path.slice(dirname(path).length + 1))
  return withRepository(root, [folder], policy, open, async (sandbox) => {
    const commit = await runGit(sandbox, ['rev-parse', '--verify', '--end-of-options', `${base}^{commit}`], {
      cwd: root,
      readOnly: true,
      signal,
    })
    if (!commit.ok) return { problem: `${base} is not a commit: ${commit.complaint}` }
    const added = await runGit(sandbox, ['worktree', 'add', '--quiet', '-b', branch, '--', place, commit.output], {
      cwd: root,
      readOnly: false,
      signal,
    })
    const admin = adminOf(place)
    if (!added.ok) return { problem: added.complaint }
    if (admin === undefined) return { problem: `${place} was created, but git doesn't recognize it.` }
    return { worktree: { path: place, git: { branch, base: commit.output, admin } } }
  })
}

/** Runs a function with a sandbox that may write to a repository's working tree and to the given folders. */
export async function withRepository<T>(
  root: string,
  folders: readonly string[],
  policy: SandboxPolicy,
  open: OpenSandbox,
  use: (sandbox: Sandbox) => Promise<T | { readonly problem: string }>,
): Promise<T | { readonly problem: string }> {
  try {
    const sandbox = await open(
      parsePolicy({
        ...policy,
        workspace: root,
        readableRoots: [...policy.readableRoots, ...repositoryOf(root)],
        writableRoots: [...policy.writableRoots, ...folders],
      }),
    )
    try {
      return await use(sandbox)
    } finally {
      await sandbox.close()
    }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    return { problem: error.message }
  }
}
