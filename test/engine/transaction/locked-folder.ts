import { lockSession, type LockedFolder } from '../../../engine/session/session-lock.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** A session's folder that this process has locked. */
export function lockedFolder(): LockedFolder {
  return lockSession(tempDir(), 'run').directory
}
