import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
import { planGit, type GitPlan, type GitWrites } from './git-writes.ts'
import type { HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { isNew, storeObjects, tipsAside } from './store-commits.ts'

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

/** A branch for imported commits. `moved`: the checked-out branch that moves to `commit`, too. `stayed`: why a branch that should have moved doesn't. */
type PlannedRef = {
  readonly ref: string
  readonly commit: string
  readonly moved?: { readonly branch: string; readonly old: string | undefined }
  readonly stayed?: string
}

/** The plan for importing the commits. */
export type PlannedCommits =
  /** `refs`: the branch for the checked-out commit, if that is new, and one for each other branch, tag or stash with new commits. `git`: the changes to git's files. */
  | { readonly type: 'planned'; readonly refs: readonly PlannedRef[]; readonly git: GitWrites }
  /** `complete`: the repository already has all commits of the view. `none`: the view has none, or a git directory can't be read. */
  | { readonly type: 'complete' | 'none' }
  | { readonly type: 'failed'; readonly why: string }

const [mostRefs, largestIndex] = [100, 1024 ** 3]
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
  const host = holdGit(to)
  if (made?.commit === undefined || host === undefined) return { type: 'none' }
  try {
    const git = locateHostGit(roots)
    if (git === undefined) return { type: 'failed', why: noGit }
    const { commit } = made
    const known = commitOf(host.common, ref)
    const objects = join(from.common, 'objects')
    const aside = from.own === from.common ? tipsAside(git, host, from, commit, objects) : []
    const commits = [commit, ...elsewhere, ...aside.map((tip) => tip.commit)]
    const refused = await storeObjects(git, host.own, { commits, objects })
    if (refused !== undefined) return { type: 'failed', why: refused }
    // An earlier import that was killed may already have moved the branch.
    const isThere =
      move !== undefined &&
      made.branch === move.branch &&
      move.commit !== commit &&
      commitOf(host.common, made.branch ?? '') === commit
    const plan = planGit(git, host, to)
    const refs: PlannedRef[] = []
    const add = (wanted: string, tip: string): string | undefined => {
      const name = freeName(git, host.own, host.common, wanted, tip)
      const old = commitOf(host.common, name)
      refs.push({ ref: name, commit: tip })
      return old === tip ? undefined : plan.setRef({ name, old, now: tip })
    }
    const isWanted = isNew(git, host.own, commit) || known === commit || isThere
    const why = isWanted ? add(ref, commit) : undefined
    if (why !== undefined) return { type: 'failed', why }
    if (isWanted && move !== undefined) {
      const moved = { branch: made.branch ?? '', old: move.commit }
      const follows =
        onlyForward !== true ||
        move.commit === undefined ||
        git.run(host.own, ['merge-base', '--is-ancestor', move.commit, commit]).ok
      const other = `${short(move.branch ?? 'HEAD')} now points to a different commit`
      const toMove = { branch: made.branch, was: move, now: commit }
      const stayed = isThere ? undefined : follows ? planMove(git, host, plan, toMove) : other
      const [first = { ref, commit }] = refs
      refs[0] = { ...first, ...(stayed === undefined ? { moved } : { stayed }) }
    }
    for (const { name, commit: tip } of aside) {
      const wanted = `${ref}-${name}`
      const isOwn = commitOf(host.common, wanted) === tip
      if (!isOwn && !isNew(git, host.own, tip, [commit, ...elsewhere, ...refs.map((each) => each.commit)])) continue
      const problem = add(wanted, tip)
      if (problem !== undefined) return { type: 'failed', why: problem }
    }
    return refs.length === 0 ? { type: 'complete' } : { type: 'planned', refs, git: plan.writes() }
  } finally {
    host.close()
  }
}

/**
 * Plans how to undo what `planCommits` planned. The checked-out branch moves back to its original commit unless it has moved since, and the branches
 * that were created for the commits are removed. The objects stay until git removes them.
 *
 * @param options.landed all commits that landed in the repository. At most one of the entries says that the checked-out branch moved
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
      const stayed = planMove(git, host, plan, { branch, was: { branch, commit }, now: old })
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
  const heads = (common.names('worktrees') ?? []).map((name) => common.read(`worktrees/${name}/HEAD`, 4096))
  const linked = heads.map((head) => head?.toString('latin1').trimEnd())
  return [headOf(own), headOf(common), ...linked].includes(`ref: ${ref}`)
}

type Move = {
  readonly branch: string | undefined
  readonly was: CheckedOut
  /** The commit to which the branch moves; undefined if the branch is to have no commits. */
  readonly now: string | undefined
}

/** Plans a move of the checked-out branch together with the index. Returns the reason if the branch can't move. */
function planMove(
  git: HostGit,
  { own, common }: { readonly own: HeldDirectory; readonly common: HeldDirectory },
  plan: GitPlan,
  { branch, was, now }: Move,
): string | undefined {
  if (branch === undefined || was.branch === undefined) return 'no branch was checked out'
  if (branch !== was.branch) return `the run had checked out ${short(branch)}, not ${short(was.branch)}`
  if (headOf(own) !== `ref: ${branch}`) return `${short(branch)} is no longer checked out`
  if (commitOf(common, branch) !== was.commit) return `${short(branch)} now points to a different commit`
  const before = own.read('index', largestIndex)
  const index = movedIndex(git, own, before, was.commit, now)
  if ('why' in index) return `staged changes conflict with the commits (${index.why})`
  const refused = plan.setRef({ name: branch, old: was.commit, now })
  if (refused !== undefined) return refused
  plan.moveHead(was.commit, now)
  plan.setIndex(before, index.bytes)
  return undefined
}

/**
 * The index after the branch has moved from the commit `was` to the commit `now`. Changes that somebody has staged in the meantime are kept. If they
 * can't be kept, the branch can't move, and `why` says so.
 */
function movedIndex(
  git: HostGit,
  own: HeldDirectory,
  before: Buffer | undefined,
  was: string | undefined,
  now: string | undefined,
): { readonly bytes: Buffer } | { readonly why: string } {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-index-'))
  try {
    const file = join(folder, 'index')
    if (before !== undefined) writeFileSync(file, before)
    const env = { GIT_INDEX_FILE: file }
    const trees = [was ?? emptyTree(git, own), now ?? emptyTree(git, own)]
    const { ok, complaint } = git.run(own, ['read-tree', '-i', '-m', ...trees], { env })
    return ok ? { bytes: readFileSync(file) } : { why: complaint.split('\n')[0] ?? '' }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function emptyTree(git: HostGit, host: HeldDirectory): string {
  return git.run(host, ['hash-object', '-w', '-t', 'tree', '--stdin']).stdout.toString('latin1').trim()
}

/** Returns the requested name for the branch. A number is added if a branch of that name exists and has commits that would be lost. */
function freeName(git: HostGit, own: HeldDirectory, common: HeldDirectory, ref: string, commit: string): string {
  for (let number = 1; number < mostRefs; number += 1) {
    const name = number === 1 ? ref : `${ref}-${number}`
    const known = commitOf(common, name)
    if (known === undefined || git.run(own, ['merge-base', '--is-ancestor', known, commit]).ok) return name
  }
  return ref
}

const short = (branch: string): string => branch.replace(/^refs\/heads\//, '')
