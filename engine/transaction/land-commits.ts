import { basename } from 'node:path'
import { gitDirectoriesOf, planCommits, planGiveBack, readCheckedOut, type GitWrites } from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { headOf } from './heads.ts'
import { privateGitOf } from './find-private-git.ts'
import type { ViewState } from './private-view.ts'

/** Commits of a run that are in the repository now, under a name of their own. */
type LandedCommits = {
  /** The work tree. */
  readonly path: string
  readonly ref: string
  readonly commit: string
  /** The branch that was checked out and has moved to them. */
  readonly moved?: { readonly branch: string; readonly old?: string | undefined } | undefined
  /** Why that stayed where it was, though it was to move. */
  readonly stayed?: string | undefined
}

/** The result for the commits of a session: what was imported, and what was not, with why. */
export type CommitsReport = {
  readonly landed: readonly LandedCommits[]
  readonly failed: readonly { readonly path: string; readonly why: string }[]
}

/** Commits that are to land, and what git's files become then. */
type CommitsPlan = CommitsReport & { readonly git: readonly GitWrites[] }

/**
 * Plans to take the commits that a session's runs made into the repositories, under a name of their own. Their objects are stored at once; nothing
 * names them until what is planned is done, together with the files.
 *
 * @param moveBranches whether the branch that is checked out moves to them, where it is where it was when the view was made
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
      if (to !== undefined) failed.push({ path, why: `what they were made in is gone: ${kept}` })
      continue
    }
    // Where another repository in the tree stood was not recorded, but what was made there follows it.
    const known = headOf(directory, path)
    const was = known ?? readCheckedOut(to)
    // Work trees of one repository share its names.
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
    const why = moveBranches && was === undefined ? 'nobody knows where it stood when the run began' : stayed
    landed.push({ path, ref, commit, ...(moved && { moved }), ...(why === undefined ? {} : { stayed: why }) })
  }
  return { landed, failed, git }
}

/** Plans to take that back. `stayed` says why a branch stays where it is, for each that does. */
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
        ? { stayed: 'the repository is gone' }
        : planGiveBack({ git, roots, ref, commit, ...(moved && { moved: { branch: moved.branch, old: moved.old } }) })
    if ('stayed' in planned) stayed.push(`${path}: ${planned.stayed}`)
    else plans.push(planned.git)
  }
  return { stayed, git: plans }
}
