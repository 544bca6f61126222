import { encodeText, TreeTooLarge, type TreeBounds } from '../../sandbox/index.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { readRecord, recordsAside, type ChangeRecord } from './change-record.ts'
import { hasOwnObjects } from './copy-git.ts'
import { privateGitOf } from './find-private-git.ts'
import { unlandedRepositories } from './land-commits.ts'
import { lookThrough } from './look-through.ts'
import { storedView, type PrivateView } from './stored-view.ts'
import { isReverted, readViewState, type ViewState } from './view-state.ts'

/**
 * What a session contains that exists nowhere else. `work`: changes or commits that are in no tree and no repository, or anything that isn't recorded.
 * `by-products`: only files that git ignores, git objects besides the landed commits, and refs that did not land.
 */
type Left = 'nothing' | 'by-products' | 'work'

/** Whether a record describes exactly what a view contains now. */
export async function isRecorded(
  view: PrivateView,
  { view: known }: ChangeRecord,
  bounds?: TreeBounds,
): Promise<boolean> {
  try {
    const { stamp, close } = await lookThrough(view, bounds)
    close()
    return stamp === known
  } catch (error) {
    // A view that nobody can look through completely may contain anything.
    if (error instanceof TreeTooLarge) return false
    throw error
  }
}

/** What a session's last view and its record contain that exists nowhere else. Call this before removing either of them. */
export async function leftInView(directory: LockedFolder): Promise<Left> {
  const state = readViewState(directory)
  if (state === undefined || state.state === 'making' || state.state === 'discarded') return 'nothing'
  if (state.pending !== undefined) return 'work'
  const [record, view] = [readRecord(directory), storedView(directory)]
  const isLanded = state.state === 'landed' && !isReverted(state)
  if (record === undefined) return view === undefined ? 'nothing' : 'work'
  // Earlier versions didn't record a fingerprint. Their records are trusted if the state says that the changes have landed.
  const isTrusted = record.view === undefined && isLanded
  if (view !== undefined && !isTrusted && !(await isRecorded(view, record))) return 'work'
  if (record.changes.length > 0 && !isLanded) return 'work'
  if (view === undefined) return 'nothing'
  const repositories = unlandedRepositories(isLanded ? state : {}, record)
  if (repositories.length + record.blocked.length + record.protected.length > 0) return 'work'
  const ignored = record.with_ignored ? 0 : record.ignored.files
  const isLeft = ignored > 0 || record.repositories.some(({ kept }) => hasObjects(kept)) || hasRefs(state)
  return isLeft ? 'by-products' : 'nothing'
}

/** Whether a repository of a view has its own objects, or can't be read. */
function hasObjects(kept: string): boolean {
  const git = privateGitOf(kept)
  return git === undefined || hasOwnObjects(encodeText(git.common))
}

/** Whether a view contains refs that have not landed. */
function hasRefs({ kept = [] }: ViewState): boolean {
  return kept.some(({ ref }) => ref !== 'HEAD')
}

/** What a session contains that exists nowhere else, in its last view or in what was set aside for it. */
export async function leftInSession(directory: LockedFolder): Promise<Left> {
  return recordsAside(directory).length > 0 ? 'work' : leftInView(directory)
}
