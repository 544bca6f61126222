import { isDeepStrictEqual } from 'node:util'
import { CommitError, isApplied, PathError, recover, renderFailure } from '../../apply-patch/index.ts'
import { UserError } from '../core/user-error.ts'
import { lockSession } from '../session/session-lock.ts'
import { areMadeThere, removeMade } from './made-repositories.ts'
import { areCommitsIn, areIndexesIn } from './landed-commits.ts'
import { readViewState, withoutLanded, writeViewState } from './view-state.ts'

/**
 * If the process was killed during a landing or an undo, recovers the tree, finds out whether the transaction took effect, and records the result in the
 * session. Call it before doing anything else with a session's changes, while holding the session's lock.
 *
 * @throws UserError `failed` if the tree can't be recovered
 */
export async function settleLanding(directory: string): Promise<void> {
  const state = readViewState(directory)
  if (state?.pending === undefined) return
  const { pending, ...before } = state
  const { does, root, id, then } = pending
  const find = async (): Promise<boolean> => {
    await recover({ root })
    if (id !== undefined) return isApplied(root, id)
    const isLanding = does === 'land'
    const commits = isLanding ? addedTo(before.commits, then.commits) : (before.commits ?? [])
    const refs = isLanding ? addedTo(before.refs, then.refs) : (before.refs ?? [])
    if (commits.length + refs.length > 0) return areCommitsIn(before, commits, refs)
    const made = isLanding ? addedTo(before.made, then.made) : []
    return (
      areMadeThere(made) &&
      areIndexesIn(before, isLanding ? addedTo(before.indexes, then.indexes) : (before.indexes ?? []))
    )
  }
  const isIn = await find().catch((error: unknown) => {
    if (!(error instanceof CommitError || error instanceof PathError)) throw error
    const what = does === 'land' ? 'A landing' : 'An undo'
    const help = error.code === 'unreadable' ? '. If the directory was moved, move it back, and try again.' : ''
    const message = `${what} of this run's changes was interrupted in ${root}, and the tree could not be recovered. ${renderFailure(error).trim()}${help}`
    throw new UserError('failed', message, { cause: error })
  })
  if (does === 'undo' && !isIn) await removeMade(before.made)
  writeViewState(directory, isIn === (does === 'land') ? { ...withoutLanded(before), ...then } : before)
}

function addedTo<T>(known: readonly T[] = [], all: readonly T[] = []): readonly T[] {
  return all.filter((one) => !known.some((each) => isDeepStrictEqual(each, one)))
}

/**
 * Does the same as `settleLanding`, but takes the session's lock first.
 *
 * @throws UserError `usage` if another process holds the lock; `failed` if the tree can't be recovered
 */
export async function settleUnlocked(directory: string): Promise<void> {
  if (readViewState(directory)?.pending === undefined) return
  const lock = lockSession(directory, 'settle')
  try {
    await settleLanding(directory)
  } finally {
    lock.release()
  }
}
