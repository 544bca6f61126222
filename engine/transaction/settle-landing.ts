import { isApplied, recover } from '../../apply-patch/index.ts'
import { lockSession } from '../session/session-lock.ts'
import { areCommitsIn } from './land-commits.ts'
import { readViewState, writeViewState } from './view-state.ts'

/**
 * If the process was killed during a landing or an undo, recovers the tree, finds out whether the transaction took effect, and records the result in the
 * session. Call it before doing anything else with a session's changes, while holding the session's lock.
 */
export async function settleLanding(directory: string): Promise<void> {
  const state = readViewState(directory)
  if (state?.pending === undefined) return
  const { pending, ...before } = state
  const { does, root, id, then } = pending
  await recover({ root })
  const isIn =
    id === undefined ? areCommitsIn((does === 'land' ? then.commits : before.commits) ?? []) : await isApplied(root, id)
  const { commits: _, ...rest } = before
  writeViewState(directory, isIn === (does === 'land') ? { ...rest, ...then } : before)
}

/**
 * Does the same as `settleLanding`, but takes the session's lock first.
 *
 * @throws UserError if another process holds the lock
 */
export async function settleUnlocked(directory: string): Promise<void> {
  if (readViewState(directory)?.pending === undefined) return
  const release = lockSession(directory)
  try {
    await settleLanding(directory)
  } finally {
    release()
  }
}
