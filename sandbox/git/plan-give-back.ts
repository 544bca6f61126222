import { branchUse } from './branch-use.ts'
import { commitOf, holdGit, type GitDirectories } from './git-directories.ts'
import { planGit, type GitWrites } from './git-writes.ts'
import { locateHostGit } from './host-git.ts'
import { noGit, type PlannedRef } from './plan-commits.ts'
import { planIndexBack, planMoveBack, short, type LandedMove, type MovedIndex } from './plan-move.ts'

/**
 * Plans how to undo what `planCommits` planned. The checked-out branch moves back to its original commit, together with the index, unless either has
 * changed since. New branches are removed, unless somebody has changed or checked out them since. The refs that keep what did not land stay, and so do all
 * objects.
 *
 * @param options.landed all commits that landed in the repository. At most one of the entries says that the checked-out branch moved
 * @param options.changes the new branches
 * @param options.earlier what is planned for another work tree of the same repository. The plan includes it. Default: nothing
 * @param options.index what the landing did to the index; undefined if that isn't known
 * @returns `stayed`: why nothing can be undone; `kept`: which branches and other refs stay, and why
 * @internal
 */
export function planGiveBack(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly landed: readonly {
    readonly commit: string
    readonly moved?: LandedMove | undefined
  }[]
  readonly changes?: readonly PlannedRef[]
  readonly index: MovedIndex | undefined
  readonly earlier?: GitWrites | undefined
}): { readonly stayed: string } | { readonly git: GitWrites; readonly kept: readonly string[] } {
  const host = holdGit(options.git)
  if (host === undefined) return { stayed: "the repository is missing or can't be read" }
  try {
    const git = locateHostGit(options.roots)
    if (git === undefined) return { stayed: noGit }
    const plan = planGit(git, host, options.git, options.earlier)
    const kept: string[] = []
    for (const { commit, moved } of options.landed) {
      if (moved === undefined) continue
      const { branch, old, from, from_commit: fromCommit } = moved
      const back = from === undefined ? {} : { from: { branch: from, commit: fromCommit } }
      const stayed = planMoveBack(git, host, plan, { branch, commit, old, ...back, index: options.index })
      if (stayed !== undefined) kept.push(stayed)
    }
    const hasMoved = options.landed.some(({ moved }) => moved !== undefined)
    if (!hasMoved && options.index !== undefined) {
      const stayed = planIndexBack(git, host, plan, options.index)
      if (stayed !== undefined) kept.push(stayed)
    }
    for (const { ref, old, now } of options.changes ?? []) {
      const use = branchUse(host, ref)
      const why =
        commitOf(host.common, ref) !== now
          ? 'it has changed since'
          : use !== undefined
            ? `it is ${use}`
            : plan.setRef({ name: ref, old: now, now: old })
      if (why !== undefined) kept.push(`${short(ref)} was not reset: ${why}`)
    }
    return { git: plan.writes(), kept }
  } finally {
    host.close()
  }
}
