import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { commitOf, headOf, holdGit, readCheckedOut, type CheckedOut, type GitDirectories } from './git-directories.ts'
import { planGit, type GitPlan, type GitWrites } from './git-writes.ts'
import type { HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'

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
  /** Whether the checked-out branch may move only to a descendant of its commit. Default: it may move to any commit. */
  readonly onlyForward?: boolean
}

/** The plan for importing the commits. */
export type PlannedCommits =
  /** `moved`: the branch that moves from `old` to `commit`. `stayed`: why a branch that should have moved doesn't. `git`: the changes to git's files. */
  | {
      readonly type: 'planned'
      readonly ref: string
      readonly commit: string
      readonly moved?: { readonly branch: string; readonly old: string | undefined }
      readonly stayed?: string
      readonly git: GitWrites
    }
  /** The repository already has all of the view's commits, the view has none, or the git directory of the repository or of the view can't be read. */
  | { readonly type: 'none' }
  | { readonly type: 'failed'; readonly why: string }

const [mostRefs, largestIndex] = [100, 1024 * 1024 * 1024]
const noGit = "no git program was found on this machine that commands can't write to"

/**
 * Plans the import of the commits that commands made in a private view. Git checks and stores the objects immediately, but no ref points to them yet.
 * The plan creates a branch at the last commit. It moves the checked-out branch and its index only if that is requested and the branch is still at
 * its original commit. None of the view's settings are read.
 *
 * @internal
 */
export async function planCommits({ from, to, ref, roots, move, onlyForward }: CommitsWish): Promise<PlannedCommits> {
  const made = readCheckedOut(from)
  const host = holdGit(to)
  if (made?.commit === undefined || host === undefined) return { type: 'none' }
  try {
    const git = locateHostGit(roots)
    if (git === undefined) return { type: 'failed', why: noGit }
    const { commit } = made
    const known = commitOf(host.common, ref)
    const stored = await storeObjects(git, host.own, { commit, objects: join(from.common, 'objects') })
    if (typeof stored === 'string') return { type: 'failed', why: stored }
    // An earlier import that was killed may already have moved the branch.
    const isThere =
      move !== undefined &&
      made.branch === move.branch &&
      move.commit !== commit &&
      commitOf(host.common, made.branch ?? '') === commit
    if (!stored.fresh && known !== commit && !isThere) return { type: 'none' }
    const plan = planGit(git, host, to)
    const name = freeName(git, host.own, host.common, ref, commit)
    const refused =
      name === ref && known === commit
        ? undefined
        : plan.setRef({ name, old: commitOf(host.common, name), now: commit })
    if (refused !== undefined) return { type: 'failed', why: refused }
    const planned = { type: 'planned', ref: name, commit } as const
    if (move === undefined) return { ...planned, git: plan.writes() }
    const moved = { branch: made.branch ?? '', old: move.commit }
    if (isThere) return { ...planned, moved, git: plan.writes() }
    const follows =
      onlyForward !== true ||
      move.commit === undefined ||
      git.run(host.own, ['merge-base', '--is-ancestor', move.commit, commit]).ok
    const stayed = follows
      ? planMove(git, host, plan, { branch: made.branch, was: move, now: commit })
      : `${short(move.branch ?? 'HEAD')} now points to a different commit`
    return { ...planned, ...(stayed === undefined ? { moved } : { stayed }), git: plan.writes() }
  } finally {
    host.close()
  }
}

/**
 * Plans how to undo what `planCommits` planned. The checked-out branch moves back to its original commit unless it has moved since, and the branch
 * that was created for the commits is removed. The objects stay until git removes them.
 *
 * @returns `stayed`: why nothing is undone, for example because the branch has moved since
 * @internal
 */
export function planGiveBack(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly ref: string
  readonly commit: string
  readonly moved?: { readonly branch: string; readonly old: string | undefined } | undefined
}): { readonly stayed: string } | { readonly git: GitWrites } {
  const { ref, commit, moved } = options
  const host = holdGit(options.git)
  if (host === undefined) return { stayed: "the repository is missing or can't be read" }
  try {
    const git = locateHostGit(options.roots)
    if (git === undefined) return { stayed: noGit }
    const plan = planGit(git, host, options.git)
    if (moved !== undefined) {
      const { branch, old } = moved
      const stayed = planMove(git, host, plan, { branch, was: { branch, commit }, now: old })
      if (stayed !== undefined) return { stayed }
    }
    // The created branch is removed only if nobody has moved it since.
    if (commitOf(host.common, ref) === commit) plan.setRef({ name: ref, old: commit, now: undefined })
    return { git: plan.writes() }
  } finally {
    host.close()
  }
}

/**
 * Whether a branch, given by its full name, contains a commit. False if no git can be trusted.
 *
 * @internal
 */
export function hasCommit(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly branch: string
  readonly commit: string
}): boolean {
  const [host, git] = [holdGit(options.git), locateHostGit(options.roots)]
  try {
    const at = host && commitOf(host.common, options.branch)
    if (host === undefined || git === undefined || at === undefined) return false
    return at === options.commit || git.run(host.own, ['merge-base', '--is-ancestor', options.commit, at]).ok
  } finally {
    host?.close()
  }
}

/** Lets git store a commit and all objects that it needs. @returns whether any were missing or, if git can't store them, the reason */
async function storeObjects(
  git: HostGit,
  host: HeldDirectory,
  { commit, objects }: { readonly commit: string; readonly objects: string },
): Promise<{ readonly fresh: boolean } | string> {
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replace(/["\\]/g, '\\$&')}"` }
  const fresh = git.run(host, ['rev-list', '--objects', commit, '--not', '--all'], { env })
  if (!fresh.ok) return fresh.complaint
  if (fresh.stdout.length === 0) return { fresh: false }
  const pack = git.run(host, ['pack-objects', '-q', '--stdout'], { env, input: fresh.stdout })
  if (!pack.ok) return pack.complaint
  const strict =
    git.run(host, ['rev-parse', '--is-shallow-repository']).stdout.toString('latin1').trim() === 'true'
      ? []
      : ['--strict']
  const words = ['index-pack', '--stdin', '--fsck-objects', ...strict]
  const stored = await git.feed(host, words, Readable.from([pack.stdout], { objectMode: false }))
  return stored.ok ? { fresh: true } : stored.complaint
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
