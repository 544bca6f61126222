import { basename, join } from 'node:path'
import {
  gitDirectoriesOf,
  planCommits,
  readCheckedOut,
  type CheckedOut,
  type GitDirectories,
  type GitWrites,
  type LandedMove,
  type LandedEntry,
  type LeftRef,
  type StagingWish,
} from '../../sandbox/index.ts'
import type { ChangeRecord } from './change-record.ts'
import { headOf, indexAtStart } from './heads.ts'
import { planMade } from './made-repositories.ts'
import { protectedIn } from './protected-in-view.ts'
import { privateGitOf } from './find-private-git.ts'
import { keepIndex } from './kept-indexes.ts'
import type { KeptIndex, ViewState } from './view-state.ts'

/** What happened to the commit that the run had checked out. */
export type LandedCommits = {
  /** The path of the repository's work tree. */
  readonly path: string
  /** The ref that keeps the commit, because the branch stayed. Absent: the repository has the commit anyway. */
  readonly ref?: string | undefined
  readonly commit: string
  /** The checked-out branch that moved to the commit, or the new branch to which HEAD followed the run. */
  readonly moved?: LandedMove | undefined
  /** Why the branch did not move. */
  readonly stayed?: string | undefined
}

/** A ref that got a new value: a new branch, or a ref that keeps what didn't land under its own name. `old` is its value before; absent if it is new. */
export type LandedRef = {
  readonly path: string
  readonly ref: string
  readonly old?: string | undefined
  readonly now: string
}

/** A ref that a run changed, but that stayed as it is, the reason, and what a person can run to change it. */
type KeptRef = LeftRef & { readonly path: string }

/** The commits and refs of a session that landed, and those that did not, with reasons. */
export type CommitsReport = {
  readonly landed: readonly LandedCommits[]
  readonly refs: readonly LandedRef[]
  readonly kept: readonly KeptRef[]
  /** `isPart`: only commits on branches that are not checked out could not land. */
  readonly failed: readonly { readonly path: string; readonly why: string; readonly isPart?: true }[]
  /** The paths of repositories that already had all commits of the session. */
  readonly complete: readonly string[]
  /** The repositories that land because the session's runs made them. */
  readonly made: NonNullable<ViewState['made']>
  /** How the landing changes the index of each repository whose HEAD moves. */
  readonly indexes: readonly KeptIndex[]
}

/** The commits to land, and the resulting changes to git's files. */
type CommitsPlan = CommitsReport & { readonly git: readonly GitWrites[] }

/** The prefix of the refs that keep what a session changed in a repository and what did not land under its own name. */
function keptRefs(id: string): string {
  return `refs/portcullis/${id}`
}

/**
 * Plans the landing of the commits that a session's runs made, of their changes to refs, and of what they staged. Nothing changes in the repositories, not even their objects, until
 * the plan is carried out, together with the landing of the files.
 *
 * @param landsAs what is at a path once the files have landed, as `landedEntries` returns it
 */
export async function planLandingOfCommits(
  directory: string,
  state: Pick<ViewState, 'roots' | 'commits' | 'refs' | 'writable'>,
  { repositories, protected_paths: protectedPaths }: Pick<ChangeRecord, 'repositories' | 'protected_paths'>,
  landsAs: (path: string) => LandedEntry | undefined,
): Promise<CommitsPlan> {
  const landed: LandedCommits[] = []
  const refs: LandedRef[] = []
  const kept: KeptRef[] = []
  const failed: CommitsReport['failed'][number][] = []
  const complete: string[] = []
  const indexes: KeptIndex[] = []
  const git: GitWrites[] = []
  const made: NonNullable<ViewState['made']>[number][] = []
  const roots = state.roots.flatMap(({ path, source }) => [path, source])
  for (const { path, kept: place, refs: changed, made: remade } of repositories) {
    const [from, to] = [privateGitOf(place), gitDirectoriesOf(path)]
    if (to === undefined && remade !== undefined) {
      const planned = planMade(directory, path, remade)
      if ('why' in planned) {
        failed.push({ path, why: planned.why })
        continue
      }
      git.push(planned.git)
      made.push(planned.landed)
      if ('dropped' in remade) kept.push(...remade.dropped.map((ref) => ({ path, ref, why: 'such refs do not land' })))
      complete.push(path)
      continue
    }
    if (from === undefined || to === undefined) {
      if (to !== undefined)
        failed.push({ path, why: `the repository in which they were made no longer exists: ${place}` })
      continue
    }
    if (changed === undefined) {
      failed.push({ path, why: 'it is not known what the run changed in its refs' })
      continue
    }
    const known = headOf(directory, path)
    const head = movedBefore(state, path, { from, to }) ?? known ?? readCheckedOut(to)
    // The work trees of one repository share its refs, so each of them needs a ref with a different name.
    const before = git.filter(({ within }) => within.includes(to.common)).length
    const planned = await planCommits({
      from,
      to,
      under: `${keptRefs(basename(directory))}${before === 0 ? '' : `/tree-${before + 1}`}`,
      roots,
      changes: changed,
      head,
      protectedIn: protectedIn([...protectedPaths], path, state.writable),
      staging: stagingIn(directory, path, (at) => {
        const moved = landed.find((each) => each.path === at && each.moved !== undefined)
        return moved === undefined ? landsAs(at) : { type: 'repository', commit: moved.commit }
      }),
    })
    if (planned.type === 'failed') failed.push({ path, why: planned.why })
    if (planned.type === 'none' || planned.type === 'failed') continue
    kept.push(...planned.kept.map((each) => ({ path, ...each })))
    if (planned.type === 'complete') {
      complete.push(path)
      continue
    }
    if (planned.left !== undefined) failed.push({ path, why: planned.left, isPart: true })
    git.push(planned.git)
    refs.push(...planned.refs.map((each) => ({ path, ...each })))
    const { staged } = planned
    const moved = staged?.index ?? planned.head?.index
    if (moved !== undefined)
      indexes.push({ ...keepIndex(directory, path, moved), ...(staged && { staged: staged.paths }) })
    if (planned.head === undefined) {
      if (planned.left === undefined) complete.push(path)
      continue
    }
    const { index: _, ...commit } = planned.head
    landed.push({ path, ...commit })
  }
  return { landed, refs, kept, failed, complete, made, indexes, git }
}

/** What decides which paths of a repository are staged. Undefined if it isn't known what was staged before the run. */
function stagingIn(
  directory: string,
  path: string,
  landsAs: (path: string) => LandedEntry | undefined,
): StagingWish | undefined {
  const made = indexAtStart(directory, path)
  return made && { made: made.content, landsAs: (entry) => landsAs(join(path, entry)) }
}

/**
 * Where an earlier landing of the session left HEAD, if it is still there and the run has another commit checked out by now. Undefined: HEAD may move only from
 * where it was when the view was made.
 */
function movedBefore(
  { commits = [] }: Pick<ViewState, 'commits'>,
  path: string,
  { from, to }: { readonly from: GitDirectories; readonly to: GitDirectories },
): CheckedOut | undefined {
  const [now, made] = [readCheckedOut(to), readCheckedOut(from)]
  const landed = commits.find((each) => each.path === path && each.moved !== undefined)
  const isThere =
    now?.branch === landed?.moved?.branch && now?.commit === landed?.commit && made?.commit !== landed?.commit
  return landed !== undefined && isThere ? now : undefined
}

/** The repositories with commits of a session that have not landed. */
export function unlandedRepositories(
  { commits = [], imported = [], unlanded = [] }: Pick<ViewState, 'commits' | 'imported' | 'unlanded'>,
  { repositories }: Pick<ChangeRecord, 'repositories'>,
): ChangeRecord['repositories'] {
  const landed = new Set([...commits.map(({ path }) => path), ...imported])
  return repositories.filter(({ path, refs }) => unlanded.includes(path) || !(landed.has(path) || refs?.length === 0))
}
