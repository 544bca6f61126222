import process from 'node:process'
import { isInside } from '../core/directories-between.ts'
import { UserError } from '../core/user-error.ts'
import { listSessions, sessionDirectory } from '../session/session.ts'
import { tell } from './print.ts'
import { sessionBeginning } from './session-beginning.ts'
import { stateFolders } from './state-folders.ts'

/** A stored session. */
export type StoredSession = { readonly id: string; readonly directory: string }

/** All stored sessions, newest first in each folder. */
export function storedSessions(folders = stateFolders()): readonly StoredSession[] {
  return folders.flatMap((folder) =>
    listSessions(folder).map((id) => ({ id, directory: sessionDirectory(folder, id) })),
  )
}

/** The sessions that worked in the current directory, or in a directory that contains it, newest first. */
export function sessionsHere(): readonly StoredSession[] {
  const here = process.cwd()
  return storedSessions()
    .filter(({ directory }) => {
      const { workspace } = sessionBeginning(directory)
      return workspace !== undefined && isInside(here, workspace)
    })
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
}

/**
 * The newest session that worked in the current directory, whatever its runs did: what `--last` means. Says on standard error which one it is.
 *
 * @throws UserError `usage` if there is none
 */
export function lastRun(): StoredSession {
  const [newest] = sessionsHere()
  if (newest === undefined)
    throw new UserError('usage', `No run worked in ${process.cwd()}. To see all sessions, run agent sessions list.`)
  tell(`The newest run here: ${newest.id}`)
  return newest
}
