import { join } from 'node:path'
import {
  commitOf,
  headOf,
  holdGit,
  readCheckedOut,
  type CheckedOut,
  type GitDirectories,
  type HeldGit,
} from './git-directories.ts'
import { planGit, type GitWrites } from './git-writes.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { importAside } from './aside-commits.ts'
import { planMove, planMoveBack, short, type MovedIndex } from './plan-move.ts'
import { hasOddEntries, isNew, storeObjects } from './store-commits.ts'

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
  /**
   * The branch that was checked out in `to` at an earlier time, and its commit at that time. If neither has changed since, the branch moves to the
   * new commits. Absent: no checked-out branch moves.
   */
  readonly move?: CheckedOut
  /** The commits that are checked out in other work trees of the view's repository. They are imported separately. Default: none. */
  readonly elsewhere?: readonly string[]
  /** Whether the checked-out branch may move only to a descendant of its commit. Default: it may move to any commit. */
  readonly onlyForward?: boolean
}

/**
 * A branch for imported commits. `moved`: the checked-out branch that moves to `commit`, too. `stayed`: why a branch that should have moved doesn't. `index`:
 * what the move does to the index; undefined if the branch has already moved.
 */
type PlannedRef = {
  readonly ref: string
  readonly commit: string
  readonly moved?: { readonly branch: string; readonly old: string | undefined }
  readonly stayed?: string
  readonly index?: MovedIndex
}

/** The plan for importing the commits. */
export type PlannedCommits =
  /**
   * `refs`: the branch for the checked-out commit, if that is new, and one for each other branch, tag or stash with new commits. `git`: the changes to
   * git's files. `left`: why some of the commits on other branches are not imported.
   */
  | { readonly type: 'planned'; readonly refs: readonly PlannedRef[]; readonly git: GitWrites; readonly left?: string }
  /** `complete`: the repository already has all commits of the view. `none`: the view has none, or a git directory can't be read. */
  | { readonly type: 'complete' | 'none' }
  | { readonly type: 'failed'; readonly why: string }

const mostRefs = 100
const noGit = "no git program was found on this machine that commands can't write to"

/**
 * Plans the import of the commits that commands made in a private view. Git checks and stores the objects immediately, but no ref points to them yet.
 * The plan creates a branch at the last commit, and one for each other branch, tag or stash that leads to new commits. It moves the checked-out branch
 * and its index only if that is requested and the branch is still at its original commit. None of the view's settings are read.
 *
 * @internal
 */
export async function planCommits({
  from,
  to,
  ref,
  roots,
  move,
  elsewhere = [],
  onlyForward,
}: CommitsWish): Promise<PlannedCommits> {
  const made = readCheckedOut(from)
  const [left, host] = [holdGit(from), holdGit(to)]
  try {
    if (made?.commit === undefined || left === undefined || host === undefined) return { type: 'none' }
    const git = locateHostGit(roots)
    if (git === undefined) return { type: 'failed', why: noGit }
    const { commit } = made
    const known = commitOf(host.common, ref)
    const objects = join(from.common, 'objects')
    if (hasOddEntries(left.common)) return { type: 'failed', why: `${objects} contains links or pipes` }
    const refused = await storeObjects(git, host.own, { commits: [commit, ...elsewhere], objects })
    if (refused !== undefined) return { type: 'failed', why: refused }
    const aside = from.own === from.common ? await importAside(git, host, left.common, { commit, objects }) : undefined
    // An earlier import that was killed may already have moved the branch.
    const isThere =
      move !== undefined &&
      made.branch === move.branch &&
      move.commit !== commit &&
      commitOf(host.common, made.branch ?? '') === commit
    const plan = planGit(git, host, to)
    const refs: PlannedRef[] = []
    const add = (wanted: string, tip: string): string | undefined => {
      const taken = new Set(refs.map((each) => each.ref))
      const name = freeName(git, host, wanted, tip, taken)
      const old = commitOf(host.common, name)
      const problem = old === tip ? undefined : plan.setRef({ name, old, now: tip })
      if (problem === undefined) refs.push({ ref: name, commit: tip })
      return problem
    }
    const isWanted = isNew(git, host.own, commit) === true || known === commit || isThere
    const why = isWanted ? add(ref, commit) : undefined
    if (why !== undefined) return { type: 'failed', why }
    if (isWanted && move !== undefined) {
      const moved = { branch: made.branch ?? '', old: move.commit }
      const follows =
        onlyForward !== true ||
        move.commit === undefined ||
        git.run(host.own, ['merge-base', '--is-ancestor', move.commit, commit]).ok
      const other = `${short(move.branch ?? 'HEAD')} now points to a different commit`
      const [first = { ref, commit }] = refs
      const toMove = { branch: made.branch, was: move, now: commit, beside: first.ref }
      const moving: { readonly index?: MovedIndex } | { readonly why: string } = isThere
        ? {}
        : follows
          ? planMove(git, host, plan, toMove)
          : { why: other }
      refs[0] = { ...first, ...('why' in moving ? { stayed: moving.why } : { ...moving, moved }) }
    }
    let problem = aside?.problem
    for (const { name, commit: tip } of aside?.tips ?? []) {
      const wanted = `${ref}-${name}`
      const isOwn = commitOf(host.common, wanted) === tip
      const planned = refs.map((each) => each.commit)
      if (isOwn || aside?.isNew(tip, [commit, ...elsewhere, ...planned]) === true) problem = add(wanted, tip) ?? problem
    }
    if (refs.length === 0 && problem === undefined) return { type: 'complete' }
    return { type: 'planned', refs, git: plan.writes(), ...(problem === undefined ? {} : { left: problem }) }
  } finally {
    left?.close()
    host?.close()
  }
}

/**
 * Plans how to undo what `planCommits` planned. The checked-out branch moves back to its original commit, together with the index, unless either has
 * changed since. The branches that were created for the commits are removed. The objects stay until git removes them.
 *
 * @param options.landed all commits that landed in the repository. At most one of the entries says that the checked-out branch moved
 * @param options.index what that move did to the index; undefined if that isn't known
 * @returns `stayed`: why nothing is undone, for example because the branch has moved since; `kept`: which created branches are not removed, and why
 * @internal
 */
export function planGiveBack(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly landed: readonly {
    readonly ref: string
    readonly commit: string
    readonly moved?: { readonly branch: string; readonly old?: string | undefined } | undefined
  }[]
  readonly index: MovedIndex | undefined
}): { readonly stayed: string } | { readonly git: GitWrites; readonly kept: readonly string[] } {
  const host = holdGit(options.git)
  if (host === undefined) return { stayed: "the repository is missing or can't be read" }
  try {
    const git = locateHostGit(options.roots)
    if (git === undefined) return { stayed: noGit }
    const plan = planGit(git, host, options.git)
    for (const { commit, moved } of options.landed) {
      if (moved === undefined) continue
      const { branch, old } = moved
      const stayed = planMoveBack(git, host, plan, { branch, commit, old, index: options.index })
      if (stayed !== undefined) return { stayed }
    }
    const kept: string[] = []
    for (const { ref, commit } of options.landed) {
      // A created branch is removed only if nobody has moved it since.
      if (commitOf(host.common, ref) !== commit) continue
      if (isCheckedOut(host, ref)) kept.push(`${short(ref)} is checked out, so it was not removed`)
      else plan.setRef({ name: ref, old: commit, now: undefined })
    }
    return { git: plan.writes(), kept }
  } finally {
    host.close()
  }
}

/** Whether a branch is checked out in the repository or in one of its linked work trees. */
function isCheckedOut({ own, common }: HeldGit, ref: string): boolean {
  const linked = (common.names('worktrees') ?? []).map((name) =>
    common.text(`worktrees/${name}/HEAD`, 4096)?.replace(/\n$/, ''),
  )
  return [headOf(own), headOf(common), ...linked].includes(`ref: ${ref}`)
}

/**
 * Returns the requested name for the branch. A number is added if the name is among those that are `taken`, or if a branch of that name exists and has
 * commits that would be lost.
 */
function freeName(
  git: HostGit,
  { own, common }: HeldGit,
  ref: string,
  commit: string,
  taken: ReadonlySet<string>,
): string {
  for (let number = 1; number < mostRefs; number += 1) {
    const name = number === 1 ? ref : `${ref}-${number}`
    if (taken.has(name)) continue
    const known = commitOf(common, name)
    if (known === undefined || git.run(own, ['merge-base', '--is-ancestor', known, commit]).ok) return name
  }
  return ref
}
