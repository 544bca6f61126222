import type { GitPlan } from './git-writes.ts'
import type { Aside } from './aside-commits.ts'
import { branchUse } from './branch-use.ts'
import { commitOf, type CheckedOut, type HeldGit } from './git-directories.ts'
import type { HostGit } from './host-git.ts'
import { short } from './plan-move.ts'
import type { RefChange } from './ref-changes.ts'

/** The maximum number of changes to refs that are considered. */
const mostChanges = 1000

/** How refs change under their own names. */
export type OwnRefs = {
  /** The branch that was checked out in `to` at an earlier time, and its commit at that time. Undefined: that isn't known, so this branch doesn't move. */
  readonly head: CheckedOut | undefined
  /** Whether the checked-out branch may move only to a descendant of its commit, and whether other refs may. */
  readonly onlyForward: { readonly head: boolean; readonly refs: boolean }
}

/** A ref that changes under its own name. `old` is undefined if it is new. */
export type PlannedRefChange = { readonly ref: string; readonly old?: string | undefined; readonly now: string }

/** A ref that commands changed, but that stays as it is in the repository, and the reason. `HEAD` if something else was checked out. */
export type LeftRef = { readonly ref: string; readonly why: string }

/** Plans the changes to all refs except HEAD and its branch, under the refs' own names. */
export function planChanges(
  changes: readonly RefChange[],
  {
    own,
    made,
    aside,
    git,
    host,
    plan,
    kept,
  }: {
    readonly git: HostGit
    readonly host: HeldGit
    readonly plan: GitPlan
    readonly kept: LeftRef[]
    readonly own: OwnRefs
    readonly made: CheckedOut
    readonly aside: Aside | undefined
  },
): readonly PlannedRefChange[] {
  const landed: PlannedRefChange[] = []
  const isOfHead = (name: string): boolean => name === 'HEAD' || (name === made.branch && name === own.head?.branch)
  if (changes.length > mostChanges) kept.push({ ref: 'refs', why: `only ${mostChanges} changes are considered` })
  for (const { name, old, now } of changes.slice(0, mostChanges)) {
    const isDone = now !== undefined && (name === 'refs/stash' || commitOf(host.common, name) === now)
    if (isDone || isOfHead(name)) continue
    const tip = aside?.tips.find((each) => each.ref === name)
    const isFetched =
      name.startsWith('refs/tags/') && tip?.commit !== undefined && aside?.isFetched(tip.commit) === true
    const why =
      now !== undefined && tip?.value !== now
        ? now.startsWith('ref: ')
          ? 'it is symbolic'
          : 'its objects could not be imported'
        : isFetched
          ? 'it was only fetched'
          : planRef(git, host, plan, {
              change: { name, old, now },
              commit: tip?.commit,
              onlyForward: own.onlyForward.refs,
            })
    if (why !== undefined) kept.push({ ref: name, why })
    else if (now !== undefined) landed.push({ ref: name, old, now })
  }
  return landed
}

/**
 * Why a ref that a run removed stays in the repository.
 *
 * @internal
 */
export const noRemoval = 'the run removed it, and removals do not land'

/**
 * Why HEAD stays although a run checked out something else: a branch, given by its full name, or a commit.
 *
 * @internal
 */
export function otherCheckedOut(now: string | undefined): string {
  return `the run had checked out ${now?.startsWith('refs/') === true ? short(now) : `the commit ${now?.slice(0, 12) ?? ''}`}`
}

/**
 * Plans to give a branch, a tag or notes the value that commands gave it. The ref must still have its earlier value, or not exist if it is new.
 *
 * @param options.commit the commit to which the new value leads; undefined if it leads to none
 * @param options.onlyForward whether an existing ref may only move to a descendant of its commit, because it isn't known for sure where it was
 * @returns why the ref stays as it is; undefined if the change was added to the plan
 */
function planRef(
  git: HostGit,
  host: HeldGit,
  plan: GitPlan,
  { change, commit, onlyForward }: PlanRefOptions,
): string | undefined {
  const { name, old, now } = change
  const current = commitOf(host.common, name)
  if (now === undefined) return noRemoval
  if (current !== old)
    return old === undefined
      ? 'a ref of that name has been created in the repository since the run began'
      : 'it has changed in the repository since the run began'
  if (name.startsWith('refs/heads/') && commit !== now) return 'it does not name a commit'
  // Git makes no such branch, because HEAD would be ambiguous.
  if (name === 'refs/heads/HEAD') return 'git allows no branch of this name'
  const use = branchUse(host, name)
  if (use !== undefined) return `it is ${use} in the repository`
  const isForward = (from: string): boolean =>
    !name.startsWith('refs/tags/') && git.run(host.own, ['merge-base', '--is-ancestor', from, now]).ok
  if (onlyForward && current !== undefined && !isForward(current))
    return 'its value when the run began is not known, and the change is not a fast-forward'
  return plan.setRef({ name, old, now })
}

type PlanRefOptions = {
  readonly change: RefChange
  readonly commit: string | undefined
  readonly onlyForward: boolean
}
