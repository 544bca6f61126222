import { commitOf, headOf, type CheckedOut, type HeldGit } from './git-directories.ts'
import type { GitPlan } from './git-writes.ts'
import type { HostGit } from './host-git.ts'
import { planMove, short, type LandedMove, type MovedIndex } from './plan-move.ts'
import { whyNoNewBranch } from './plan-new-branch.ts'
import type { Refs } from './refs.ts'

/** What happens to HEAD: nothing needs to change, the branch moves (or, with `from`, HEAD moves to a new branch), or everything stays. */
type HeadOutcome =
  | { readonly nothing: true }
  | {
      readonly moved: LandedMove
      readonly index: MovedIndex | undefined
    }
  | { readonly why: string }

/** Plans how the checked-out branch moves forward to the commit that a run has checked out, or how HEAD follows the run to a new branch. */
export function planHead(
  {
    head,
    commit,
    branch,
  }: { readonly head: CheckedOut | undefined; readonly commit: string; readonly branch: string | undefined },
  {
    git,
    host,
    plan,
    present,
    faultOf,
  }: {
    readonly git: HostGit
    readonly host: HeldGit
    readonly plan: GitPlan
    readonly present: Refs
    readonly faultOf: (commit: string) => string | undefined
  },
): HeadOutcome {
  if (head === undefined) return { why: 'the commit that was checked out when the run started was not recorded' }
  if (branch === head.branch && commit === head.commit) return { nothing: true }
  const isThere = branch !== undefined && commitOf(host.common, branch) === commit
  if (branch === undefined) return { why: otherCheckedOut(commit) }
  if (branch === head.branch) {
    // An earlier landing that was killed may already have moved the branch.
    if (isThere) return { moved: { branch, old: head.commit }, index: undefined }
    const isForward =
      head.commit === undefined || git.run(host.own, ['merge-base', '--is-ancestor', head.commit, commit]).ok
    if (!isForward) return { why: `${short(branch)} would not move forward: the run rewrote its commits` }
    const fault = faultOf(commit)
    if (fault !== undefined) return { why: fault }
    const moving = planMove(git, host, plan, { branch, was: head, now: commit })
    return 'why' in moving ? moving : { moved: { branch, old: head.commit }, ...moving }
  }
  if (isThere) return headOf(host.own) === `ref: ${branch}` ? { nothing: true } : { why: otherCheckedOut(branch) }
  const why = whyNoNewBranch(branch, host, present) ?? faultOf(commit)
  if (why !== undefined) return { why }
  const moving = planMove(git, host, plan, { branch, was: head, now: commit })
  if ('why' in moving) return moving
  return { moved: { branch, from: head.branch, from_commit: head.commit }, ...moving }
}

/** Why HEAD stays although a run checked out something else: a branch, given by its full name, or a commit. */
function otherCheckedOut(now: string): string {
  return `the run had checked out ${now.startsWith('refs/') ? short(now) : `the commit ${now.slice(0, 12)}`}`
}
