import { basename } from 'node:path'
import {
  gitDirectoriesOf,
  hasCommit,
  noRemoval,
  otherCheckedOut,
  planCommits,
  planGiveBack,
  readCheckedOut,
  readRepositoryState,
  runBranch,
  type GitDirectories,
  type GitWrites,
  type RefChange,
} from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { headOf } from './heads.ts'
import { privateGitOf } from './find-private-git.ts'
import { keepIndex, keptIndex } from './kept-indexes.ts'
import type { KeptIndex, ViewState } from './view-state.ts'

/** A commit that landed in the repository. */
type LandedCommits = {
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
type LandedRef = {
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
  /** What becomes of the index of each repository whose checked-out branch moves. */
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
  { roots: trees }: Pick<ViewState, 'roots'>,
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
  const roots = trees.flatMap(({ path, source }) => [path, source])
  for (const { path, kept: place, refs: changes } of repositories) {
    const [from, to] = [privateGitOf(place), gitDirectoriesOf(path)]
    if (from === undefined || to === undefined) {
      if (to !== undefined)
        failed.push({ path, why: `the repository in which they were made no longer exists: ${place}` })
      continue
    }
    // An overlay doesn't record where the branches of nested repositories were, so they may only be fast-forwarded there.
    const known = headOf(directory, path)
    const was = known ?? readCheckedOut(to)
    // The work trees of one repository share its refs, so each of them needs a ref with a different name.
    const before = git.filter(({ within }) => within.includes(to.common)).length
    const elsewhere = repositories.flatMap((each): readonly string[] => {
      const git = each.path === path ? undefined : privateGitOf(each.kept)
      const commit = git?.common === from.common ? readCheckedOut(git)?.commit : undefined
      return commit === undefined ? [] : [commit]
    })
    const onlyForward = { head: known === undefined, refs: known?.refs === undefined && from.own === from.common }
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
 * The changes of refs that don't land because that wasn't requested. Those that the repository has already aren't listed, nor branches whose commits are on a
 * separate branch.
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

/**
 * Whether the refs that were set when commits landed still say so. The branch of a commit contains it: the checked-out branch that moved or, if none did, the
 * separate branch. If the branch moved back, it doesn't contain the commit any more from which it moved. The same is true of other refs.
 */
export function areCommitsIn(
  { roots: trees }: Pick<ViewState, 'roots'>,
  commits: readonly LandedCommits[],
  refs: readonly LandedRef[],
): boolean {
  const roots = trees.flatMap(({ path, source }) => [path, source])
  const has = (path: string, branch: string | undefined, commit: string, unless?: string): boolean => {
    const git = gitDirectoriesOf(path)
    return git !== undefined && branch !== undefined && hasCommit({ git, roots, branch, commit, unless })
  }
  return (
    commits.every(({ path, ref, commit, moved }) => has(path, moved?.branch ?? ref, commit, moved?.old)) &&
    refs.every(({ path, ref, old, now }) => has(path, ref, now, old))
  )
}

/** Plans how to undo the landing of commits. `stayed` gives a reason for each branch that will not be moved back. */
export function planGivingBack(
  directory: string,
  { roots: trees, commits = [], refs = [], indexes = [] }: Pick<ViewState, 'roots' | 'commits' | 'refs' | 'indexes'>,
): {
  readonly stayed: readonly string[]
  readonly git: readonly GitWrites[]
} {
  const roots = trees.flatMap(({ path, source }) => [path, source])
  const stayed: string[] = []
  // The work trees of a repository share its refs, so they have one plan.
  const plans = new Map<string, GitWrites>()
  for (const path of new Set([...commits, ...refs].map((each) => each.path))) {
    const git = gitDirectoriesOf(path)
    const isHere = (each: { readonly path: string }): boolean => each.path === path
    const landed = commits.filter(isHere)
    const kept = indexes.find((each) => each.path === path)
    const planned =
      git === undefined
        ? { stayed: "the repository is missing or can't be read" }
        : planGiveBack({
            git,
            roots,
            landed,
            changes: refs.filter(isHere),
            index: keptIndex(directory, kept),
            earlier: plans.get(git.common),
          })
    if ('stayed' in planned) stayed.push(`${path}: ${planned.stayed}`)
    else {
      if (git !== undefined) plans.set(git.common, planned.git)
      stayed.push(...planned.kept.map((why) => `${path}: ${why}`))
    }
  }
  return { stayed, git: [...plans.values()] }
}
