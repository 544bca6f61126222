import process from 'node:process'
import { areMounted } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { lockSession, lockWhenFree, type LockedFolder } from '../session/session-lock.ts'
import { readRecord, type ChangeRecord } from '../transaction/change-record.ts'
import { changesOfSession, completeRecord } from '../transaction/changes-of-session.ts'
import { openViewState, overlaysOfView } from '../transaction/stored-view.ts'
import { readViewState } from '../transaction/view-state.ts'
import { settleLanding } from '../transaction/settle-landing.ts'
import type { ChangedSession } from './find-session.ts'
import { takeStartedFor } from './own-process.ts'

/** A session that this process has locked. */
export type LockedChanges = ChangedSession & { readonly directory: LockedFolder }

/**
 * Calls a function while the session is locked, so that no other process can run the session or land its changes. If a landing or an undo was
 * interrupted, the tree is recovered first.
 */
export async function withLock(
  session: ChangedSession,
  use: 'land' | 'undo' | 'discard' | 'work',
  act: (session: LockedChanges) => Promise<number>,
): Promise<number> {
  const { directory, release } = await lockWhenFree(session.directory, use)
  try {
    await settleLanding(directory)
    return await act({ ...session, directory, state: readViewState(directory) ?? session.state })
  } finally {
    release()
  }
}

/**
 * Returns the record of what a session's runs changed. As long as a run can work in the session's view, its changes can be determined only while the session
 * is locked.
 *
 * @param own the session's folder, if the caller has locked it. Default: it is locked here if necessary
 * @throws UserError `usage` if the changes were discarded, or if another process holds the lock; also the errors of `lookWhereMounted`
 */
export async function recordOf({ id, directory }: ChangedSession, own?: LockedFolder): Promise<ChangeRecord> {
  const isOpen = openViewState(directory) !== undefined
  const isDiscarded = readViewState(directory)?.state === 'discarded'
  const stored = isOpen || isDiscarded ? undefined : readRecord(directory)
  const record = isOpen ? await (own === undefined ? lookLocked(id, directory) : look(id, own)) : stored
  if (record !== undefined) return record
  throw new UserError('usage', `The changes of the session ${id} were discarded.`)
}

async function lookLocked(id: string, directory: string): Promise<ChangeRecord | undefined> {
  const started = takeStartedFor()
  // The process that started this one, in a namespace in which the overlays are mounted, holds the lock and waits.
  const lock = started === id ? lockSession(directory, 'look', process.ppid) : await lockWhenFree(directory, 'look')
  try {
    return await look(id, lock.directory, started)
  } finally {
    lock.release()
  }
}

async function look(id: string, directory: LockedFolder, started?: string): Promise<ChangeRecord | undefined> {
  const state = openViewState(directory)
  const overlays = state && overlaysOfView(directory, state)
  if (overlays === undefined || areMounted(overlays.mounts)) return changesOfSession(directory)
  const known = await completeRecord(directory)
  if (known !== undefined) return known
  const { lookWhereMounted } = await import('./look-where-mounted.ts')
  await lookWhereMounted(id, directory, overlays, started)
  return readRecord(directory)
}
