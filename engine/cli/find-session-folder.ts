import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../core/user-error.ts'
import { findSession, sessionDirectory } from '../session/session.ts'
import { lastRun } from './last-run.ts'
import { stateFolders } from './state-folders.ts'

/**
 * Finds the folder of the session that the user means: by the session's id, a unique beginning or end of the id, or the path of the folder. Without a name, it is
 * the newest session that worked in the current directory.
 *
 * @throws UserError `usage` if there is no such session, or if the id is too short or several ids match
 */
export function findSessionFolder(given: string | undefined): string {
  if (given === undefined) return lastRun().directory
  const place = statSync(given, { throwIfNoEntry: false })
  if (place !== undefined && !place.isFile() && !place.isDirectory())
    throw new UserError('usage', `${given} is a pipe, a socket or a device; expected a session, or a regular file.`)
  if (place?.isDirectory() === true) {
    if (existsSync(join(given, 'rollout.jsonl'))) return resolve(given)
    throw new UserError('usage', `${given} is not a session folder: it contains no rollout.jsonl.`)
  }
  const states = stateFolders()
  const id = findSession(states, given)
  const folders = states.map((state) => sessionDirectory(state, id))
  return folders.find((folder) => existsSync(folder)) ?? folders[0] ?? id
}
