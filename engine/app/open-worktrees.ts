import { isAbsolute, join } from 'node:path'
import type { ExecutionContext } from '../run/execution-context.ts'
import type { ReadRollout, Rollout } from '../session/rollout.ts'
import type { OpenSandbox } from '../worktree/make-worktree.ts'
import { Worktrees, type WorktreeHooks } from '../worktree/worktrees.ts'
import { recoverTree } from './recover-tree.ts'
import { findRepository } from './workspace.ts'

type WorktreesOptions = {
  /** The working directory and the sandbox in which the run begins. */
  readonly home: ExecutionContext
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** The user's home directory. */
  readonly userHome: string
  readonly open: OpenSandbox
  readonly hooks: () => WorktreeHooks
  readonly rollout: Rollout
  /** The session that the run continues. Undefined for a new session and for a fork, which doesn't take over the worktree of the original session. */
  readonly resumed: Pick<ReadRollout, 'worktree'> | undefined
}

/** Opens the worktrees of a run, with notices for the user. If the session's last run worked in a worktree, the run enters it. */
export async function openWorktrees({
  home,
  environment,
  userHome,
  open,
  hooks,
  rollout,
  resumed,
}: WorktreesOptions): Promise<{ readonly worktrees: Worktrees; readonly notices: readonly string[] }> {
  const data = environment['XDG_DATA_HOME']
  const worktrees = new Worktrees({
    home,
    root: findRepository(home.workspace),
    // The worktrees are neither in this program's own folders, to which commands must not write, nor in the repository, where they would show up as changes.
    folder: join(
      data !== undefined && isAbsolute(data) ? data : join(userHome, '.local/share'),
      'portcullis-worktrees',
    ),
    hookFolders: [join(userHome, '.claude', 'worktrees')],
    open,
    hooks,
    note: (worktree) => rollout.append({ type: 'worktree', worktree: worktree ?? null }),
  })
  const before = resumed?.worktree
  if (before === undefined) return { worktrees, notices: [] }
  const problem = await worktrees.resume(before)
  if (problem === undefined) return { worktrees, notices: await recoverTree(before.path) }
  rollout.append({ type: 'worktree', worktree: null })
  return { worktrees, notices: [problem] }
}

/** Returns the text that tells the model, at the beginning of a run, which worktree it works in. */
export function describeWorktree({ current, now }: Worktrees): readonly string[] {
  if (current === undefined) return []
  const branch = current.git === undefined ? '' : `, on the branch ${current.git.branch}`
  return [`You work in ${now.workspace}${branch}, a worktree. The tree where the session began can only be read.`]
}
