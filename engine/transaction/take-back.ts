import { setTimeout as wait } from 'node:timers/promises'
import { commit, CommitError, undo } from '../../apply-patch/index.ts'
import { UserError } from '../core/user-error.ts'
import { betweenTries, busyGit, busyWith, mostTries } from './busy-git.ts'
import { isAborted, isInterruption } from './is-aborted.ts'
import { removeMade } from './made-repositories.ts'
import { planGivingBack } from './landed-commits.ts'
import { removeIndexes } from './kept-indexes.ts'
import { alongsideOf } from './land-refs-alongside.ts'
import { afterUndo, landingsInTrees, withoutLanded, writeViewState, type ViewState } from './view-state.ts'

/**
 * Undoes a session's newest landing, including all of its commits, after waiting until no other git process is busy. A branch that has since moved
 * stays where it is and keeps the commits. If the changes landed in several parts, call it once for each of `landingsInTrees`.
 *
 * @param signal when it is aborted, nothing is undone, unless everything has been undone already. Default: the undo can't be interrupted
 * @returns `interrupted` if nothing was undone because of the signal; else a reason for each branch that did not move back, and one if the repository was still busy, so that only the files were restored
 * @throws CommitError if the files can't be restored, UserError `failed` if a git process interferes during the last try, so that nothing is undone
 */
export async function takeBack(
  directory: string,
  state: ViewState,
  signal?: AbortSignal,
): Promise<readonly string[] | 'interrupted'> {
  for (let tries = 1; ; tries += 1) {
    if (await isAborted(signal)) return 'interrupted'
    const taken = await tryToTakeBack(directory, state, tries === mostTries, signal)
    if (taken !== undefined) return taken
    await wait(betweenTries)
  }
}

/**
 * Tries once to undo a landing, as `takeBack` does.
 *
 * @returns undefined if another git process is busy and this isn't the last try
 */
async function tryToTakeBack(
  directory: string,
  state: ViewState,
  isLast: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | 'interrupted' | undefined> {
  const rest = withoutLanded(state)
  const [landing] = landingsInTrees(state)
  const { stayed, git } = planGivingBack(directory, state)
  const planned = alongsideOf(git)
  const isBusy = planned !== undefined && 'changed' in planned
  if (isBusy && !isLast) return undefined
  const alongside = isBusy ? undefined : planned
  const options = { ...(alongside && { alongside }), ...(signal && { signal }) }
  const root = landing?.root ?? state.roots[0]?.path ?? '/'
  const then = { state: state.state, landings: landing === undefined ? state.landings : afterUndo(state) }
  writeViewState(directory, { ...state, pending: { does: 'undo', root, ...(landing && { id: landing.id }), then } })
  try {
    if (landing !== undefined) await undo(landing.root, { only: landing.id, ...options })
    else if (alongside !== undefined)
      await commit({ root, unsafePaths: false, changes: [], summary: [], warnings: [] }, options)
  } catch (error) {
    if (!(error instanceof CommitError && error.tree === 'incomplete')) writeViewState(directory, state)
    if (isInterruption(error)) return 'interrupted'
    const busy = busyGit(error, alongside?.within ?? [])
    if (busy === undefined) throw error
    if (!isLast) return undefined
    throw new UserError('failed', `Nothing was reverted. ${busyWith(busy)}`, { cause: error })
  }
  const left = await removeMade(state.made)
  writeViewState(directory, { ...rest, ...then })
  removeIndexes(directory)
  return [...stayed, ...left, ...(isBusy ? [busyWith(planned.changed)] : [])]
}
