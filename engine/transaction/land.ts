import { setTimeout as wait } from 'node:timers/promises'
import { commit, CommitError, PathError, recover, renderFailure } from '../../apply-patch/index.ts'
import { betweenTries, busyGit, busyWith, mostTries } from './busy-git.ts'
import { alongsideOf } from './land-refs-alongside.ts'
import type { ChangeRecord, RunChange } from './change-record.ts'
import { planLandingOfCommits, type CommitsReport } from './land-commits.ts'
import { isAborted, isInterruption } from './is-aborted.ts'
import { landedEntries } from './landed-entries.ts'
import { withDirectories } from './made-repositories.ts'
import { keepTimes } from './keep-times.ts'
import { isNoSpace } from './no-space.ts'
import { revertedInView, stateAfter } from './note-landed.ts'
import { planLanding, type Conflict } from './plan-landing.ts'
import { settleLanding } from './settle-landing.ts'
import { readViewState, writeViewState, type NotedLanding, type ViewState } from './view-state.ts'

/** The result of a landing. */
export type Landing =
  /** `files` and `directories`: how many of them the transaction changed. `commits`: the landed commits; absent if there were none to land. */
  | {
      readonly type: 'landed'
      readonly commits: CommitsReport | undefined
      readonly files: number
      readonly directories: number
      readonly merged: readonly string[]
      readonly canUndo: boolean
      readonly notes: readonly string[]
    }
  /** No file had to be written, because the trees already contain the chosen changes. Commits may have landed. */
  | { readonly type: 'nothing'; readonly already: number; readonly commits: CommitsReport | undefined }
  /** Nothing was landed, because these changes can't land. */
  | { readonly type: 'conflict'; readonly conflicts: readonly Conflict[] }
  /** Nothing was landed, because the signal was aborted. */
  | { readonly type: 'interrupted' }
  /**
   * `tree`: `unchanged`; `left-over` if it is unchanged except for temporary files that could not be removed; `incomplete` if only some of the changes
   * may have been written.
   */
  | { readonly type: 'failed'; readonly message: string; readonly tree: 'unchanged' | 'left-over' | 'incomplete' }

/** Which of a session's changes to land, and whether to land its commits. */
type LandingWish = {
  /** The changes to land. Default: all of them. */
  readonly chosen?: readonly RunChange[]
  /** Whether the commits of the session's runs land too. Default: false. */
  readonly commits?: boolean
  /** When it is aborted, nothing lands, unless everything has landed already. Default: the landing can't be interrupted. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Lands a session's changes in its trees, and its commits in their repositories, as one patch transaction: either everything lands or nothing does.
 *
 * @param directory the session's folder
 */
export async function land(
  directory: string,
  record: ChangeRecord,
  { chosen = record.changes, commits = false, signal }: LandingWish = {},
): Promise<Landing> {
  for (let tries = 1; ; tries += 1) {
    if (signal?.aborted === true) return { type: 'interrupted' }
    const landing = await tryToLand(directory, record, { chosen, commits, signal })
    // Ctrl-C also kills the git processes that plan the landing, so the failure may be due to the interruption.
    if (await isInterrupted(signal, landing)) return { type: 'interrupted' }
    if ('changed' in landing) {
      // Whatever somebody else has written while the changes were landing may be mergeable.
      if (tries === mostTries) return { type: 'conflict', conflicts: landing.changed }
    } else if ('busy' in landing) {
      if (tries === mostTries) return { type: 'failed', message: busyWith(landing.busy), tree: 'unchanged' }
    } else return landing
    await wait(betweenTries)
  }
}

/**
 * Whether the chosen changes are all the changes of a run, which leaves nothing to land: no change is blocked or left out, and no change lands
 * only in part because a person chose some of its hunks.
 *
 * @internal
 */
export function isWhole(
  { blocked, changes }: Pick<ChangeRecord, 'blocked' | 'changes'>,
  chosen: readonly RunChange[],
): boolean {
  return blocked.length === 0 && chosen.length === changes.length && chosen.every((each) => changes.includes(each))
}

const nothingOfGit: Awaited<ReturnType<typeof planLandingOfCommits>> = {
  ...{ git: [], landed: [], refs: [], kept: [], failed: [], complete: [], made: [], indexes: [] },
}

type Tried = Landing | { readonly busy: string } | { readonly changed: readonly Conflict[] }

async function isInterrupted(signal: AbortSignal | undefined, tried: Tried): Promise<boolean> {
  const isIn = 'type' in tried && (tried.type === 'landed' || tried.type === 'nothing')
  const isOpen = 'type' in tried && tried.type === 'failed' && tried.tree === 'incomplete'
  return !isIn && !isOpen && (await isAborted(signal))
}

async function tryToLand(
  directory: string,
  record: ChangeRecord,
  { chosen, commits: wanted, signal }: LandingWish & Required<Pick<LandingWish, 'chosen' | 'commits'>>,
): Promise<Tried> {
  let gits: readonly string[] = []
  try {
    for (const root of new Set(chosen.map((change) => change.root))) await recover({ root })
    await settleLanding(directory)
    const state = readViewState(directory)
    const whole = isWhole(record, chosen)
    const again = whole ? revertedInView(state, record) : []
    const { changeSet, unmerged, merged, conflicts, already } = planLanding(
      [...chosen, ...again],
      directory,
      state?.applied,
      new Date(record.at),
    )
    if (conflicts.length > 0) return { type: 'conflict', conflicts }
    const { git, ...planned } =
      !wanted || state === undefined
        ? nothingOfGit
        : await planLandingOfCommits(directory, state, record, landedEntries({ unmerged, merged }, directory))
    const commits = { ...planned, made: withDirectories(planned.made, changeSet.directories) }
    const told = wanted ? commits : undefined
    const after = (now: ViewState, noted?: NotedLanding): ReturnType<typeof stateAfter> =>
      stateAfter(now, noted, { commits, part: whole ? undefined : chosen })
    const alongside = alongsideOf(git)
    if (alongside !== undefined && 'changed' in alongside) return { busy: alongside.changed }
    gits = alongside?.within ?? []
    const isEmpty = changeSet.changes.length + (changeSet.directories ?? []).length === 0
    if (isEmpty && alongside === undefined) {
      const hasCommits =
        commits.landed.length + commits.kept.length + commits.complete.length + commits.failed.length > 0
      if (state !== undefined && hasCommits) writeIfRoom(directory, { ...state, ...after(state) })
      return { type: 'nothing', already, commits: told }
    }
    const root = isEmpty ? (state?.roots[0]?.path ?? changeSet.root) : changeSet.root
    const landing = { root, at: new Date().toISOString(), can_undo: true, undone: false }
    const begins = (id: string): void => {
      if (state === undefined) return
      const then = after(state, isEmpty ? undefined : { ...landing, id })
      writeIfRoom(directory, { ...state, pending: { does: 'land', root, ...(isEmpty ? {} : { id }), then } })
    }
    if (await isAborted(signal)) return { type: 'interrupted' }
    const report = await commit(
      { ...changeSet, root },
      { begins, ...(alongside && { alongside }), ...(signal && { signal }) },
    ).catch((error: unknown) => {
      const isOpen = error instanceof CommitError && error.tree === 'incomplete'
      if (state !== undefined && !isOpen) writeIfRoom(directory, state)
      throw error
    })
    await keepTimes(directory, unmerged)
    const notes = report.warnings.map(({ message }) => message)
    const noted = { ...landing, id: report.id, can_undo: report.canUndo, ...(notes.length === 0 ? {} : { notes }) }
    // If there is no room to note the landing, it is in the tree anyway.
    const isNoted =
      state === undefined || writeIfRoom(directory, { ...state, ...after(state, isEmpty ? undefined : noted) })
    if (isEmpty) return { type: 'nothing', already, commits: told }
    const [files, directories] = [changeSet.changes.length, changeSet.directories?.length ?? 0]
    return {
      type: 'landed',
      files,
      directories,
      merged,
      canUndo: report.canUndo && isNoted,
      notes,
      commits: told,
    }
  } catch (error) {
    const git = busyGit(error, gits)
    if (git !== undefined) return { busy: git }
    if (isInterruption(error)) return { type: 'interrupted' }
    if (error instanceof CommitError && error.code === 'changed' && error.tree === 'unchanged') {
      const differences = error.facts.differences ?? []
      const conflicts = differences.map(({ key }) => ({
        path: key,
        why: 'someone else changed it while the changes were landing',
      }))
      if (conflicts.length > 0) return { changed: conflicts }
    }
    if (error instanceof CommitError || error instanceof PathError) {
      const tree = error instanceof CommitError ? error.tree : 'unchanged'
      const hasLeftOver = error instanceof CommitError && error.facts.leftOver !== undefined
      const after = tree === 'unchanged' && hasLeftOver ? 'left-over' : tree
      return { type: 'failed', message: renderFailure(error).trim(), tree: after }
    }
    throw error
  }
}

/** Marks the session's changes as landed or discarded. After that, the session's view can't be used any more. */
export function closeView(directory: string, state: 'landed' | 'discarded'): void {
  const known = readViewState(directory)
  if (known !== undefined) writeIfRoom(directory, { ...known, state })
}

/**
 * Writes the state unless the disk is full. A completed landing must not fail because its record can't be written: without the record, another landing finds
 * nothing to do.
 */
function writeIfRoom(directory: string, state: ViewState): boolean {
  try {
    writeViewState(directory, state)
    return true
  } catch (error) {
    if (!isNoSpace(error)) throw error
    return false
  }
}
