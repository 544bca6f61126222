import { basename } from 'node:path'
import {
  gitDirectoriesOf,
  noRemoval,
  otherCheckedOut,
  planCommits,
  readCheckedOut,
  readRepositoryState,
  runBranch,
  type CheckedOut,
  type GitDirectories,
  type GitWrites,
  type RefChange,
} from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { headOf } from './heads.ts'
import { privateGitOf } from './find-private-git.ts'
import { keepIndex } from './kept-indexes.ts'
import type { KeptIndex, ViewState } from './view-state.ts'

/** A commit that landed in the repository. */
export type LandedCommits = {
  /** The path of the repository's work tree. */
  readonly path: string
  /** The separate branch that was created for the commit. Absent: the repository had it already. */
  readonly ref?: string | undefined
  readonly commit: string
  /** The checked-out branch that moved to these commits. */
  readonly moved?: { readonly branch: string; readonly old?: string | undefined } | undefined
  /** Why the branch did not move although a move was requested. */
  readonly stayed?: string | undefined
}

/** A ref that landed under its own name: a branch that isn't checked out, a tag, or notes. `old` is its value before; absent if it is new. */
export type LandedRef = {
  readonly path: string
  readonly ref: string
  readonly old?: string | undefined
  readonly now: string
}

/** A ref that a run changed, but that did not land under its own name, and the reason. `HEAD` if the run had something else checked out. */
type KeptRef = { readonly path: string; readonly ref: string; readonly why: string }

/** The commits and refs of a session that landed, and those that did not, with reasons. */
export type CommitsReport = {
  readonly landed: readonly LandedCommits[]
  readonly refs: readonly LandedRef[]
  readonly kept: readonly KeptRef[]
  /** `isPart`: only commits on branches that are not checked out could not land. */
  readonly failed: readonly { readonly path: string; readonly why: string; readonly isPart?: true }[]
  /** The paths of repositories that already had all commits of the session. */
  readonly complete: readonly string[]
  /** How the landing changes the index of each repository whose checked-out branch moves. */
  readonly indexes: readonly KeptIndex[]
}

/** The commits to land, and the resulting changes to git's files. */
type CommitsPlan = CommitsReport & { readonly git: readonly GitWrites[] }

/**
 * Plans the landing of the commits that a session's runs made, and of their changes to refs. Nothing changes in the repositories, not even their objects, until
 * the plan is carried out, together with the landing of the files.
 *
 * @param moveBranches whether the checked-out branch moves to these commits, and other refs change under their own names, provided that they are still as they
 * were when the view was made. Otherwise, the commits land on separate branches
 */
export async function planLandingOfCommits(
  directory: string,
  state: Pick<ViewState, 'roots' | 'commits' | 'refs'>,
  { repositories }: Pick<ChangeRecord, 'repositories'>,
  moveBranches: boolean,
): Promise<CommitsPlan> {
  const landed: LandedCommits[] = []
  const refs: LandedRef[] = []
  const kept: KeptRef[] = []
  const failed: CommitsReport['failed'][number][] = []
  const complete: string[] = []
  const indexes: KeptIndex[] = []
  const git: GitWrites[] = []
  const roots = state.roots.flatMap(({ path, source }) => [path, source])
  for (const { path, kept: place, refs: changed } of repositories) {
    const [from, to] = [privateGitOf(place), gitDirectoriesOf(path)]
    if (from === undefined || to === undefined) {
      if (to !== undefined)
        failed.push({ path, why: `the repository in which they were made no longer exists: ${place}` })
      continue
    }
    // An overlay doesn't record where the branches of nested repositories were, so they may only be fast-forwarded there.
    const known = headOf(directory, path)
    const moved = known && movedBefore(state, path, known, { from, to })
    const was = moved ?? known ?? readCheckedOut(to)
    const changes = changed?.map((each) => sinceLanded(state, path, each, to))
    // The work trees of one repository share its refs, so each of them needs a ref with a different name.
    const before = git.filter(({ within }) => within.includes(to.common)).length
    const elsewhere = repositories.flatMap((each): readonly string[] => {
      const git = each.path === path ? undefined : privateGitOf(each.kept)
      const commit = git?.common === from.common ? readCheckedOut(git)?.commit : undefined
      return commit === undefined ? [] : [commit]
    })
    const onlyForward = {
      head: known === undefined || moved !== undefined,
      refs: known?.refs === undefined && from.own === from.common,
    }
    const planned = await planCommits({
      from,
      to,
      elsewhere,
      ref: `${runBranch(to, basename(directory))}${before === 0 ? '' : `-tree-${before + 1}`}`,
      roots,
      changes,
      ...(moveBranches ? { own: { head: was, onlyForward } } : {}),
    })
    if (planned.type === 'failed') failed.push({ path, why: planned.why })
    if (planned.type === 'complete') complete.push(path)
    if (planned.type === 'none' || planned.type === 'failed') continue
    const here = planned.type === 'planned' ? planned.refs : []
    const left = moveBranches ? (planned.kept ?? []) : leftWithout(changes ?? [], to, here)
    kept.push(...left.map((each) => ({ path, ...each })))
    if (planned.type === 'complete') continue
    if (planned.left !== undefined) failed.push({ path, why: planned.left, isPart: true })
    git.push(planned.git)
    refs.push(...planned.changes.map((each) => ({ path, ...each })))
    for (const [at, { stayed, index, ...ref }] of planned.refs.entries()) {
      if (index !== undefined) indexes.push(keepIndex(directory, path, index))
      const why =
        moveBranches && was === undefined && at === 0
          ? 'the commit that was checked out when the run started was not recorded'
          : stayed
      landed.push({ path, ...ref, ...(why === undefined ? {} : { stayed: why }) })
    }
  }
  return { landed, refs, kept, failed, complete, indexes, git }
}

/**
 * The position to which an earlier landing of the session moved the checked-out branch, if the branch is still there and the run has another commit checked out
 * by now. Undefined: the branch may move only from its position at the time when the view was made.
 */
function movedBefore(
  { commits = [] }: Pick<ViewState, 'commits'>,
  path: string,
  known: CheckedOut,
  { from, to }: { readonly from: GitDirectories; readonly to: GitDirectories },
): CheckedOut | undefined {
  const [now, made] = [readCheckedOut(to), readCheckedOut(from)]
  const landed = commits.find((each) => each.path === path && each.moved?.branch === known.branch)
  const isThere = now?.branch === known.branch && now?.commit === landed?.commit && made?.commit !== landed?.commit
  return landed !== undefined && isThere ? now : undefined
}

/** A change to a ref. Its `old` value is the one that an earlier landing of the session gave to the ref, if the ref still has that value. */
function sinceLanded(
  { refs = [] }: Pick<ViewState, 'refs'>,
  path: string,
  change: RefChange,
  to: GitDirectories,
): RefChange {
  const landed = refs.find((each) => each.path === path && each.ref === change.name)
  if (landed === undefined || landed.now === change.now) return change
  const present = readRepositoryState({ ...to, own: to.common })?.refs?.[change.name]
  return present === landed.now ? { ...change, old: landed.now } : change
}

/**
 * The changes to refs that don't land because that wasn't requested. Changes that the repository already has are not listed, and neither are branches whose
 * commits are on a separate branch.
 */
function leftWithout(
  changes: readonly RefChange[],
  to: GitDirectories,
  landed: readonly { readonly commit: string }[],
): readonly Omit<KeptRef, 'path'>[] {
  const checkedOut = readCheckedOut(to)
  const present = readRepositoryState({ ...to, own: to.common })?.refs
  return changes.flatMap(({ name, now }): readonly Omit<KeptRef, 'path'>[] => {
    const isHead = name === 'HEAD'
    const isThere = now === (isHead ? (checkedOut?.branch ?? checkedOut?.commit) : present?.[name])
    const isOnBranch = now !== undefined && (name === 'refs/stash' || landed.some(({ commit }) => commit === now))
    if (isThere || isOnBranch) return []
    const why = isHead ? otherCheckedOut(now) : now === undefined ? noRemoval : '--land-commits was not given'
    return [{ ref: name, why }]
  })
}

/** The repositories with commits of a session that have not landed. */
export function unlandedRepositories(
  { commits = [], imported = [], unlanded = [] }: Pick<ViewState, 'commits' | 'imported' | 'unlanded'>,
  { repositories }: Pick<ChangeRecord, 'repositories'>,
): ChangeRecord['repositories'] {
  const landed = new Set([...commits.map(({ path }) => path), ...imported])
  return repositories.filter(({ path, refs }) => unlanded.includes(path) || !(landed.has(path) || refs?.length === 0))
}
