import { findLastId, recover } from '../../apply-patch/index.ts'
import { lockSession } from '../session/session-lock.ts'
import { readViewState, withLanding, writeViewState } from './view-state.ts'

/**
 * If the process was killed during a landing, finds out whether the landing took effect: recovers the tree, and records in the session whether its changes
 * landed. Call it before doing anything else with a session's changes, while holding the session's lock.
 */
export async function settleLanding(directory: string): Promise<void> {
  const state = readViewState(directory)
  const newest = state?.landings.at(-1)
  if (state === undefined || newest?.begun === undefined) return
  const { begun, ...landed } = newest
  await recover({ root: landed.root })
  const isIn = (await findLastId(landed.root)) === landed.id
  if (isIn)
    writeViewState(directory, {
      ...state,
      landings: withLanding(state, landed),
      ...(begun.all ? { state: 'landed' } : {}),
    })
  else {
    const { commits: _, ...rest } = state
    writeViewState(directory, {
      ...rest,
      landings: state.landings.slice(0, -1),
      ...(begun.commits && { commits: begun.commits }),
    })
  }
}

/**
 * Finds out, like `settleLanding`, whether an interrupted landing took effect, but takes the session's lock first.
 *
 * @throws UserError if another process holds the lock
 */
export async function settleUnlocked(directory: string): Promise<void> {
  if (readViewState(directory)?.landings.at(-1)?.begun === undefined) return
  const release = lockSession(directory)
  try {
    await settleLanding(directory)
  } finally {
    release()
  }
}
