import { areMounted } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { lockSession } from '../session/session-lock.ts'
import type { ChangeRecord } from '../transaction/change-record.ts'
import { changesOfSession } from '../transaction/changes-of-session.ts'
import { overlaysOfView } from '../transaction/private-view.ts'
import { readViewState } from '../transaction/view-state.ts'
import { settleLanding } from '../transaction/settle-landing.ts'
import type { ChangedSession } from './find-changed-session.ts'

/**
 * Calls a function while the session is locked, so that no other process can run the session or land its changes. If a landing or an undo was
 * interrupted, the tree is recovered first.
 */
export async function withLock(
  session: ChangedSession,
  act: (session: ChangedSession) => Promise<number>,
): Promise<number> {
  const release = lockSession(session.directory)
  try {
    await settleLanding(session.directory)
    return await act({ ...session, state: readViewState(session.directory) ?? session.state })
  } finally {
    release()
  }
}

/**
 * Returns the record of what a session's runs changed.
 *
 * @param takesLock whether to lock the session if its overlay must be mounted. False: the caller has already locked it
 * @throws UserError `usage` if the changes were discarded, or if another process holds the lock; also the errors of `lookWhereMounted`
 */
export async function recordOf({ id, directory, state }: ChangedSession, takesLock = false): Promise<ChangeRecord> {
  const overlays = state.state === 'open' && !state.gathered ? overlaysOfView(directory, state) : undefined
  if (overlays !== undefined && !areMounted(overlays.mounts)) {
    const release = takesLock ? lockSession(directory) : undefined
    const { lookWhereMounted } = await import('./look-where-mounted.ts')
    await lookWhereMounted(id, directory, overlays).finally(release)
  }
  const record = await changesOfSession(directory)
  if (record !== undefined) return record
  throw new UserError('usage', `The changes of the session ${id} were discarded.`)
}
