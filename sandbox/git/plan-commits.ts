import { join } from 'node:path'
import {
  commitOf,
  holdGit,
  readCheckedOut,
  type CheckedOut,
  type GitDirectories,
  type HeldGit,
} from './git-directories.ts'
import { isInTheWay, planGit, type GitPlan, type GitWrites } from './git-writes.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { importAside } from './aside-commits.ts'
import { planHead, type PlannedRef } from './plan-head.ts'
import { planChanges, type LeftRef, type OwnRefs, type PlannedRefChange } from './plan-refs.ts'
import type { RefChange } from './ref-changes.ts'
import { hasOddEntries, packObjects, type PackedObjects } from './store-commits.ts'

/** A request to import commits. */
type CommitsWish = {
  /** The repository, inside the private view, in which the commits were made. */
  readonly from: GitDirectories
  /** The repository into which the commits are imported. */
  readonly to: GitDirectories
  /**
   * The full name of the branch that will point to the commits in the repository `to`. If a branch of this name already has other commits, a number
   * is added.
   */
  readonly ref: string
  /** The directories that commands can write to: a git program in one of them is never started. */
  readonly roots: readonly string[]
  /** What commands changed in the view's repository. Absent: that isn't known, so the commits that may be new are imported, but no other changes. */
  readonly changes?: readonly RefChange[] | undefined
  /** Set if the checked-out branch and other refs change in `to`, too, as long as nobody else has changed them. Absent: only new branches keep the commits. */
  readonly own?: OwnRefs | undefined
  /** The commits that are checked out in other work trees of the view's repository. They are imported separately. Default: none. */
  readonly elsewhere?: readonly string[]
}

/** The plan for importing the commits. */
export type PlannedCommits =
  /**
   * `refs`: the branch for the checked-out commit, if that is new, and one for each other branch, tag or stash with new commits. `changes`: the refs that change
   * under their own names. `kept`: those that don't, with the reasons. `git`: the changes to git's files. `left`: why some of the commits on other branches are
   * not imported.
   */
  | {
      readonly type: 'planned'
      readonly refs: readonly PlannedRef[]
      readonly changes: readonly PlannedRefChange[]
      readonly kept: readonly LeftRef[]
      readonly git: GitWrites
      readonly left?: string
    }
  /** `complete`: the repository already has all commits of the view. `kept`: refs that don't change, if there are any. */
  | { readonly type: 'complete'; readonly kept?: readonly LeftRef[] }
  /** The view has no commits, or a git directory can't be read. */
  | { readonly type: 'none' }
  | { readonly type: 'failed'; readonly why: string }

const mostRefs = 100
/** The reason for a failure if there is no git program that can be trusted. */
export const noGit = "this machine has no git program that commands can't write to"

/**
 * Plans the import of the commits that commands made in a private view, without changing the repository: the objects, which git has checked, are files of the
 * plan. The plan creates a branch at the last commit, if that is new, and one for each other branch, tag or stash that leads to new commits. If `own` is
 * set, the checked-out branch moves together with the index, and other refs change as they did in the view, unless somebody else has changed them. None of the
 * view's settings are read.
 *
 * @internal
 */
export async function planCommits(wish: CommitsWish): Promise<PlannedCommits> {
  const { from, to, roots } = wish
  const made = readCheckedOut(from)
  const [left, host] = [holdGit(from), holdGit(to)]
  let packed: PackedObjects | undefined
  try {
    if (made === undefined || left === undefined || host === undefined) return { type: 'none' }
    if (made.commit === undefined && wish.changes === undefined) return { type: 'none' }
    const git = locateHostGit(roots)
    if (git === undefined) return { type: 'failed', why: noGit }
    const objects = join(from.common, 'objects')
    if (hasOddEntries(left.common)) return { type: 'failed', why: `${objects} contains links or pipes` }
    packed = packObjects(git, host.own, { to, objects })
    const plan = planGit(packed.git, host, to)
    return await planAll(wish, { made, left, host, packed, plan, objects })
  } finally {
    packed?.close()
    left?.close()
    host?.close()
  }
}

type Planning = {
  readonly made: CheckedOut
  readonly left: HeldGit
  readonly host: HeldGit
  readonly packed: PackedObjects
  readonly plan: GitPlan
  readonly objects: string
}

async function planAll(
  { from, ref, changes, own, elsewhere = [] }: CommitsWish,
  { made, left, host, packed, plan, objects }: Planning,
): Promise<PlannedCommits> {
  const { git } = packed
  const { commit, branch } = made
  const tips = [...(commit === undefined ? [] : [commit]), ...elsewhere]
  const refused = tips.length === 0 ? undefined : await packed.add(tips)
  if (refused !== undefined) return { type: 'failed', why: refused }
  // If the same branch is checked out as before, it isn't one of the other refs: `planHead` moves it together with the index.
  const isSameHead = own?.head !== undefined && branch !== undefined && branch === own.head.branch
  const isOther = (name: string, value: string): boolean =>
    own === undefined ? value !== commit : !(isSameHead && name === branch)
  const aside =
    from.own === from.common
      ? await importAside(packed, host, left.common, {
          commit,
          changes,
          isWanted: isOther,
          withTags: own !== undefined,
          objects,
        })
      : undefined
  const refs: PlannedRef[] = []
  const kept: LeftRef[] = []
  const add = (wanted: string, tip: string): string | undefined => {
    const taken = new Set(refs.map((each) => each.ref))
    const name = freeName(git, host, wanted, tip, taken)
    const old = commitOf(host.common, name)
    const problem = old === tip ? undefined : plan.setRef({ name, old, now: tip })
    if (problem === undefined) refs.push({ ref: name, commit: tip })
    return problem
  }
  if (commit !== undefined) {
    const why = planHead(
      {
        own,
        ref,
        commit,
        branch,
        isChanged: changes === undefined || changes.some(({ name }) => name === 'HEAD' || name === branch),
      },
      { git, host, plan, refs, kept, add },
    )
    if (why !== undefined) return { type: 'failed', why }
  }
  const landed =
    own === undefined || changes === undefined ? [] : planChanges(changes, { own, made, aside, git, host, plan, kept })
  let problem = aside?.problem
  for (const { ref: name, value, branch: suffix, commit: tip } of aside?.tips ?? []) {
    if (tip === undefined || tip === commit || landed.some((each) => each.ref === name && each.now === value)) continue
    const wanted = `${ref}-${suffix}`
    const isThere = commitOf(host.common, wanted) === tip
    const planned = [...refs.map((each) => each.commit), ...landed.map((each) => each.now)]
    const others = [...(commit === undefined ? [] : [commit]), ...elsewhere, ...planned]
    if (isThere || aside?.isNew(tip, others) === true) problem = add(wanted, tip) ?? problem
  }
  const nothing = refs.length + landed.length === 0
  if (nothing && problem === undefined) return { type: 'complete', ...(kept.length === 0 ? {} : { kept }) }
  if (!nothing) plan.addFiles(packed.files())
  const more = problem === undefined ? {} : { left: problem }
  return { type: 'planned', refs, changes: landed, kept, git: plan.writes(), ...more }
}

/**
 * Returns the requested name for the branch. A number is added if the name is among those that are `taken`, or if a branch of that name exists and has
 * commits that would be lost, or if branches exist whose names begin with it.
 */
function freeName(
  git: HostGit,
  { own, common }: HeldGit,
  ref: string,
  commit: string,
  taken: ReadonlySet<string | undefined>,
): string {
  for (let number = 1; number < mostRefs; number += 1) {
    const name = number === 1 ? ref : `${ref}-${number}`
    if (taken.has(name) || common.stat(name)?.kind === 'directory' || isInTheWay(common, name)) continue
    const known = commitOf(common, name)
    if (known === undefined || git.run(own, ['merge-base', '--is-ancestor', known, commit]).ok) return name
  }
  return ref
}
