import { findLastId, recover } from '../../apply-patch/index.ts'
import { lockSession } from '../session/session-lock.ts'
import { readViewState, writeViewState } from './private-view.ts'

/**
 * Finds out what became of a landing that was killed: its tree is recovered, and the session knows then whether it has landed. To be called before
 * anything else is done with a session's changes, by who holds its lock.
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

/** The same for who doesn't hold the session's lock yet. @throws UserError where another process does */
export async function settleUnlocked(directory: string): Promise<void> {
  if (readViewState(directory)?.landing?.begun === undefined) return
  const release = lockSession(directory)
  try {
    await settleLanding(directory)
  } finally {
    release()
  }
}
