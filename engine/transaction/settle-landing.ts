import { findLastId, recover } from '../../apply-patch/index.ts'
import { lockSession } from '../session/session-lock.ts'
import { readViewState, writeViewState } from './private-view.ts'

/**
 * If the process was killed during a landing, finds out whether the landing took effect: recovers the tree, and records in the session whether its changes
 * landed. Call it before doing anything else with a session's changes, while holding the session's lock.
 */
export async function settleLanding(directory: string): Promise<void> {
  const state = readViewState(directory)
  if (state?.landing?.begun === undefined) return
  const { landing, commits: _, ...rest } = state
  const { begun, ...landed } = landing
  await recover({ root: landing.root })
  const isIn = (await findLastId(landing.root)) === landing.id
  if (!isIn) writeViewState(directory, rest)
  else writeViewState(directory, { ...state, landing: landed, ...(begun?.all === true ? { state: 'landed' } : {}) })
}

/**
 * Finds out, like `settleLanding`, whether an interrupted landing took effect, but takes the session's lock first.
 *
 * @throws UserError if another process holds the lock
 */
export async function settleUnlocked(directory: string): Promise<void> {
  if (readViewState(directory)?.landing?.begun === undefined) return
  const release = lockSession(directory)
  try {
    await settleLanding(directory)
  } finally {
    release()
  }
}
