import { gitDirectoriesOf, hasCommit, hasIndex, planGiveBack, type GitWrites } from '../../sandbox/index.ts'
import { keptIndex } from './kept-indexes.ts'
import type { LandedCommits, LandedRef } from './land-commits.ts'
import type { KeptIndex, ViewState } from './view-state.ts'

/**
 * Whether the refs that were set when commits landed still contain these commits. For a commit, this is the checked-out branch that moved or, if none did, the
 * separate branch. If the landing moved the branch back to an earlier commit, the branch must not contain the commit from which it moved. The same applies to
 * other refs.
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

/** Whether repositories have the indexes that a landing left in them. */
export function areIndexesIn({ roots: trees }: Pick<ViewState, 'roots'>, indexes: readonly KeptIndex[]): boolean {
  const roots = trees.flatMap(({ path, source }) => [path, source])
  return indexes.every(({ path, to }) => {
    const git = gitDirectoriesOf(path)
    return git !== undefined && hasIndex({ git, roots, to })
  })
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
  for (const path of new Set([...commits, ...refs, ...indexes].map((each) => each.path))) {
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
            changes: refs.filter((each) => isHere(each) && each.ref.startsWith('refs/heads/')),
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
