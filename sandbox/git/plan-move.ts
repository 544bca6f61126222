import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitOf, headOf, holdGit, type CheckedOut, type GitDirectories } from './git-directories.ts'
import { largestIndex, type GitPlan } from './git-writes.ts'
import type { HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { operationIn } from './operation-state.ts'

type Held = { readonly own: HeldDirectory; readonly common: HeldDirectory }

type Move = {
  readonly branch: string
  readonly was: CheckedOut
  readonly now: string
}

/**
 * What a landing did to HEAD: its branch moved from the commit `old`, or HEAD followed the run to the new branch `branch` from the branch `from`, which was at
 * `from_commit`.
 */
export type LandedMove = {
  readonly branch: string
  readonly old?: string | undefined
  readonly from?: string | undefined
  readonly from_commit?: string | undefined
}

/**
 * What a move of the checked-out branch did to the index. `before`: its bytes before the move; undefined if there was no index. `from` and `to`:
 * hashes of its entries before and after the move. They are equal for two indexes with the same entries, whatever metadata of files git has stored in them.
 */
export type MovedIndex = { readonly before: Buffer | undefined; readonly from: string; readonly to: string }

/**
 * Plans a move of HEAD together with the index: the checked-out branch moves to a commit or, if `branch` is another one, that branch is created there and checked
 * out. `why` says why that can't be done; then nothing was added to the plan.
 */
export function planMove(
  git: HostGit,
  held: Held,
  plan: GitPlan,
  { branch, was, now }: Move,
): { readonly index: MovedIndex } | { readonly why: string } {
  if (was.branch === undefined) return { why: 'no branch was checked out' }
  const why = whyFixed(held, { branch: was.branch, commit: was.commit })
  if (why !== undefined) return { why }
  const before = held.own.read('index', largestIndex)
  const index = movedIndex(git, held.own, before, was.commit, now)
  if ('why' in index) return { why: `staged changes conflict with the commits (${index.why})` }
  const isSame = branch === was.branch
  const refused = plan.setRef({ name: branch, old: isSame ? was.commit : undefined, now })
  if (refused !== undefined) return { why: refused }
  if (isSame) plan.moveHead(was.commit, now)
  else plan.switchHead(branch, was.commit, now)
  plan.setIndex(before, index.bytes)
  return { index: { before, from: index.from, to: index.to } }
}

/**
 * Plans to move the checked-out branch back to where it was before `planMove`, and to put the index of that time back. Returns the reason if the branch can't
 * move, for example because somebody has staged other changes since.
 *
 * @param move.index undefined if it isn't known what the move did to the index
 */
export function planMoveBack(
  git: HostGit,
  held: Held,
  plan: GitPlan,
  { branch, commit, old, from, index }: MoveBack,
): string | undefined {
  const help = helpToMoveBack(branch, old, from)
  const why = whyFixed(held, { branch, commit })
  if (why !== undefined) return `${why}; to move it back anyway, ${help}`
  if (from !== undefined && commitOf(held.common, from.branch) !== from.commit)
    return `${short(from.branch)} now points to a different commit; to switch back anyway, ${help}`
  const now = held.own.read('index', largestIndex)
  if (index === undefined)
    return `it is not known what was staged before the changes landed; to move the branch back anyway, ${help}`
  if (entriesOf(git, held.own, now) !== index.to)
    return `other changes have been staged since; to move the branch back anyway, ${help}`
  if (entriesOf(git, held.own, index.before) !== index.from)
    return `git can no longer read the index from before the changes landed; to move the branch back anyway, ${help}`
  const refused = plan.setRef({ name: branch, old: commit, now: old })
  if (refused !== undefined) return refused
  if (from === undefined) plan.moveHead(commit, old)
  else plan.switchHead(from.branch, commit, from.commit)
  plan.setIndex(now, index.before)
  return undefined
}

/**
 * Plans to put the index back to what it was before `planStaging`. Returns the reason if it stays.
 */
export function planIndexBack(git: HostGit, held: Held, plan: GitPlan, index: MovedIndex): string | undefined {
  const { now } = plan.index()
  if (operationIn(held.own) !== undefined) return 'what the run staged stays staged: an operation is in progress'
  if (entriesOf(git, held.own, now) !== index.to)
    return 'what the run staged stays staged: other changes have been staged since'
  if (entriesOf(git, held.own, index.before) !== index.from)
    return 'what the run staged stays staged: git can no longer read the index from before the changes landed'
  plan.setIndex(now, index.before)
  return undefined
}

/**
 * Whether the index of a repository has the entries that a landing left in it, as `to` of a `MovedIndex` says. False if no git can be trusted.
 *
 * @internal
 */
export function hasIndex(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly to: string
}): boolean {
  const [held, git] = [holdGit(options.git), locateHostGit(options.roots)]
  try {
    if (held === undefined || git === undefined) return false
    return entriesOf(git, held.own, held.own.read('index', largestIndex)) === options.to
  } finally {
    held?.close()
  }
}

type MoveBack = {
  readonly branch: string
  readonly commit: string
  readonly old: string | undefined
  /** The branch from which HEAD had followed the run to `branch`, and its commit. Undefined: `branch` was checked out before, too. */
  readonly from?: { readonly branch: string; readonly commit: string | undefined } | undefined
  readonly index: MovedIndex | undefined
}

function helpToMoveBack(branch: string, old: string | undefined, from: MoveBack['from']): string {
  if (from !== undefined) return `run git switch ${short(from.branch)}`
  return `run git ${old === undefined ? `update-ref -d ${branch}` : `reset --soft ${old.slice(0, 12)}`}`
}

/** Why a branch must not move: it isn't checked out, isn't at the given commit, or an operation is in progress. Undefined if it may move. */
function whyFixed(
  { own, common }: Held,
  { branch, commit }: { readonly branch: string; readonly commit: string | undefined },
): string | undefined {
  const operation = operationIn(own)
  // Such an operation relies on the present HEAD and index. Concluding or aborting it after the move would undo the move or give a wrong result.
  if (operation !== undefined) return `${operation} is in progress; conclude or abort it first`
  if (headOf(own) !== `ref: ${branch}`) return `${short(branch)} is no longer checked out`
  if (commitOf(common, branch) !== commit) return `${short(branch)} now points to a different commit`
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
): { readonly bytes: Buffer; readonly from: string; readonly to: string } | { readonly why: string } {
  return withIndex(before, (file) => {
    const from = listed(git, own, file)
    const trees = [was ?? emptyTree(git, own), now ?? emptyTree(git, own)]
    const { ok, complaint } = git.run(own, ['read-tree', '-i', '-m', ...trees], { env: { GIT_INDEX_FILE: file } })
    const to = ok ? listed(git, own, file) : undefined
    if (from === undefined || to === undefined) return { why: complaint.split('\n')[0] ?? '' }
    return { bytes: readFileSync(file), from, to }
  })
}

function entriesOf(git: HostGit, own: HeldDirectory, index: Buffer | undefined): string | undefined {
  return withIndex(index, (file) => listed(git, own, file))
}

/** A hash of the entries of an index with their flags; undefined if git can't read it. */
export function listed(git: HostGit, own: HeldDirectory, file: string): string | undefined {
  const { ok, stdout } = git.run(own, ['ls-files', '-s', '-v', '-z'], { env: { GIT_INDEX_FILE: file } })
  return ok ? createHash('sha256').update(stdout).digest('hex') : undefined
}

/** Calls a function with the path of a copy of an index, which git may change. */
export function withIndex<T>(index: Buffer | undefined, act: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-index-'))
  try {
    const file = join(folder, 'index')
    if (index !== undefined) writeFileSync(file, index)
    return act(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The id of the empty tree, which git knows without storing it. */
function emptyTree(git: HostGit, host: HeldDirectory): string {
  return git.run(host, ['hash-object', '-t', 'tree', '--stdin']).stdout.toString().trim()
}

/** The short name of a branch, or of a tag or notes after the kind, such as `tag v1`. Other names stay as they are. */
export const short = (ref: string): string =>
  ref.replace(/^refs\/(?:heads\/|(tags|notes)\/)/, (_, kind) => kinds[kind] ?? '')

const kinds: Readonly<Record<string, string>> = { tags: 'tag ', notes: 'notes ' }
