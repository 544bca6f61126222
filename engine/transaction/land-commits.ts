import { basename } from 'node:path'
import {
  gitDirectoriesOf,
  hasCommit,
  planCommits,
  planGiveBack,
  readCheckedOut,
  type GitWrites,
} from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { headOf } from './heads.ts'
import { privateGitOf } from './find-private-git.ts'
import { keepIndex, keptIndex } from './kept-indexes.ts'
import type { KeptIndex, ViewState } from './view-state.ts'

/** Commits that a run made and that landed in the repository, under a separate ref. */
type LandedCommits = {
  /** The path of the repository's work tree. */
  readonly path: string
  readonly ref: string
  readonly commit: string
  /** The checked-out branch that moved to these commits. */
  readonly moved?: { readonly branch: string; readonly old?: string | undefined } | undefined
  /** Why the branch did not move although a move was requested. */
  readonly stayed?: string | undefined
}

/** The commits of a session that landed, and those that did not, with reasons. */
export type CommitsReport = {
  readonly landed: readonly LandedCommits[]
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
 * Plans the landing of the commits that a session's runs made. Their objects are stored in the repositories immediately, but no ref points to them until the
 * plan is carried out, together with the landing of the files.
 *
 * @param moveBranches whether the checked-out branch moves to these commits, provided that it still points to the same commit as when the view was made
 */
export async function planLandingOfCommits(
  directory: string,
  { roots: trees }: Pick<ViewState, 'roots'>,
  { repositories }: Pick<ChangeRecord, 'repositories'>,
  moveBranches: boolean,
): Promise<CommitsPlan> {
  const landed: LandedCommits[] = []
  const failed: CommitsReport['failed'][number][] = []
  const complete: string[] = []
  const indexes: KeptIndex[] = []
  const git: GitWrites[] = []
  const roots = trees.flatMap(({ path, source }) => [path, source])
  for (const { path, kept } of repositories) {
    const [from, to] = [privateGitOf(kept), gitDirectoriesOf(path)]
    if (from === undefined || to === undefined) {
      if (to !== undefined)
        failed.push({ path, why: `the repository in which they were made no longer exists: ${kept}` })
      continue
    }
    // Which commit was checked out at the start is recorded only for the tree, its submodules and linked work trees. The branches of other nested
    // repositories may only be fast-forwarded.
    const known = headOf(directory, path)
    const was = known ?? readCheckedOut(to)
    // The work trees of one repository share its refs, so each of them needs a ref with a different name.
    const before = git.filter(({ within }) => within.includes(to.common)).length
    const elsewhere = repositories.flatMap((each): readonly string[] => {
      const git = each.path === path ? undefined : privateGitOf(each.kept)
      const commit = git?.common === from.common ? readCheckedOut(git)?.commit : undefined
      return commit === undefined ? [] : [commit]
    })
    const planned = await planCommits({
      from,
      to,
      elsewhere,
      ref: `refs/heads/portcullis/${basename(directory)}${before === 0 ? '' : `-tree-${before + 1}`}`,
      roots,
      ...(moveBranches && was !== undefined ? { move: was, onlyForward: known === undefined } : {}),
    })
    if (planned.type === 'failed') failed.push({ path, why: planned.why })
    if (planned.type === 'complete') complete.push(path)
    if (planned.type !== 'planned') continue
    if (planned.left !== undefined) failed.push({ path, why: planned.left, isPart: true })
    git.push(planned.git)
    for (const [at, { stayed, index, ...ref }] of planned.refs.entries()) {
      if (index !== undefined) indexes.push(keepIndex(directory, path, index))
      const why =
        moveBranches && was === undefined && at === 0
          ? 'the commit that was checked out when the run started was not recorded'
          : stayed
      landed.push({ path, ...ref, ...(why === undefined ? {} : { stayed: why }) })
    }
  }
  return { landed, failed, complete, indexes, git }
}

/** The repositories with commits of a session that have not landed. */
export function unlandedRepositories(
  { commits = [], imported = [], unlanded = [] }: Pick<ViewState, 'commits' | 'imported' | 'unlanded'>,
  { repositories }: Pick<ChangeRecord, 'repositories'>,
): ChangeRecord['repositories'] {
  const landed = new Set([...commits.map(({ path }) => path), ...imported])
  return repositories.filter(({ path }) => unlanded.includes(path) || !landed.has(path))
}

/** Whether the branches that were set when commits landed still contain them: the checked-out branch that moved or, if none did, `portcullis/SESSION`. */
export function areCommitsIn({ roots: trees }: Pick<ViewState, 'roots'>, commits: readonly LandedCommits[]): boolean {
  const roots = trees.flatMap(({ path, source }) => [path, source])
  return commits.every(({ path, ref, commit, moved }) => {
    const git = gitDirectoriesOf(path)
    return git !== undefined && hasCommit({ git, roots, branch: moved?.branch ?? ref, commit })
  })
}

/** Plans how to undo the landing of commits. `stayed` gives a reason for each branch that will not be moved back. */
export function planGivingBack(
  directory: string,
  { roots: trees, commits = [], indexes = [] }: Pick<ViewState, 'roots' | 'commits' | 'indexes'>,
): {
  readonly stayed: readonly string[]
  readonly git: readonly GitWrites[]
} {
  const roots = trees.flatMap(({ path, source }) => [path, source])
  const stayed: string[] = []
  const plans: GitWrites[] = []
  for (const path of new Set(commits.map((each) => each.path))) {
    const git = gitDirectoriesOf(path)
    const landed = commits.filter((each) => each.path === path)
    const kept = indexes.find((each) => each.path === path)
    const planned =
      git === undefined
        ? { stayed: "the repository is missing or can't be read" }
        : planGiveBack({ git, roots, landed, index: keptIndex(directory, kept) })
    if ('stayed' in planned) stayed.push(`${path}: ${planned.stayed}`)
    else {
      plans.push(planned.git)
      stayed.push(...planned.kept.map((why) => `${path}: ${why}`))
    }
  }
  return { stayed, git: plans }
}
