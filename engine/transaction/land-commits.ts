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
import type { ViewState } from './view-state.ts'

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
  readonly failed: readonly { readonly path: string; readonly why: string }[]
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
  const failed: { readonly path: string; readonly why: string }[] = []
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
    const planned = await planCommits({
      from,
      to,
      ref: `refs/heads/portcullis/${basename(directory)}${before === 0 ? '' : `-tree-${before + 1}`}`,
      roots,
      ...(moveBranches && was !== undefined ? { move: was, onlyForward: known === undefined } : {}),
    })
    if (planned.type === 'failed') failed.push({ path, why: planned.why })
    if (planned.type !== 'planned') continue
    const { ref, commit, moved, stayed } = planned
    git.push(planned.git)
    const why =
      moveBranches && was === undefined
        ? 'the commit that was checked out when the run started was not recorded'
        : stayed
    landed.push({ path, ref, commit, ...(moved && { moved }), ...(why === undefined ? {} : { stayed: why }) })
  }
  return { landed, failed, git }
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
export function planGivingBack({ roots: trees, commits = [] }: Pick<ViewState, 'roots' | 'commits'>): {
  readonly stayed: readonly string[]
  readonly git: readonly GitWrites[]
} {
  const roots = trees.flatMap(({ path, source }) => [path, source])
  const stayed: string[] = []
  const plans: GitWrites[] = []
  for (const { path, ref, commit, moved } of commits) {
    const git = gitDirectoriesOf(path)
    const planned =
      git === undefined
        ? { stayed: "the repository is missing or can't be read" }
        : planGiveBack({ git, roots, ref, commit, ...(moved && { moved: { branch: moved.branch, old: moved.old } }) })
    if ('stayed' in planned) stayed.push(`${path}: ${planned.stayed}`)
    else plans.push(planned.git)
  }
  return { stayed, git: plans }
}
