import { basename, join } from 'node:path'
import { giveBackCommits, takeCommits } from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { headOf } from './heads.ts'
import { readViewState, writeViewState } from './private-view.ts'

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

/**
 * Takes the commits that a session's runs made into the repositories: as objects, and under a name of their own. To be called when the files have landed.
 *
 * @param moveBranches whether the branch that is checked out moves to them, where it is where it was when the view was made
 */
export async function landCommits(
  directory: string,
  { repositories }: Pick<ChangeRecord, 'repositories'>,
  moveBranches: boolean,
): Promise<CommitsReport> {
  const landed: LandedCommits[] = []
  const failed: { readonly path: string; readonly why: string }[] = []
  const state = readViewState(directory)
  const roots = (state?.roots ?? []).flatMap(({ path, source }) => [path, source])
  for (const { path, kept } of repositories) {
    const was = headOf(directory, path)
    const taken = await takeCommits({
      from: join(kept, '.git'),
      to: join(path, '.git'),
      ref: `refs/heads/portcullis/${basename(directory)}`,
      roots,
      ...(moveBranches && was !== undefined ? { move: was } : {}),
    })
    if (taken.type === 'failed') failed.push({ path, why: taken.why })
    if (taken.type !== 'taken') continue
    const { ref, commit, moved, stayed } = taken
    const why = moveBranches && was === undefined ? 'nobody knows where it stood when the run began' : stayed
    landed.push({ path, ref, commit, ...(moved && { moved }), ...(why === undefined ? {} : { stayed: why }) })
  }
  const known = readViewState(directory)
  if (known !== undefined && landed.length > 0) writeViewState(directory, { ...known, commits: landed })
  return { landed, failed }
}

/** Takes that back. @returns why a branch stays where it is, for each that does */
export function giveBackLanded(directory: string): readonly string[] {
  const state = readViewState(directory)
  if (state?.commits === undefined) return []
  const roots = state.roots.flatMap(({ path, source }) => [path, source])
  const stayed = state.commits.flatMap(({ path, ref, commit, moved }) => {
    const why = giveBackCommits({
      git: join(path, '.git'),
      roots,
      ref,
      commit,
      ...(moved && { moved: { branch: moved.branch, old: moved.old } }),
    })
    return why === undefined ? [] : [`${path}: ${why}`]
  })
  const { commits: _, ...rest } = state
  writeViewState(directory, rest)
  return stayed
}
