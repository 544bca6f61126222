import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../core/user-error.ts'
import { findSession, sessionDirectory } from '../session/session.ts'
import { stateFolders } from './find-changed-session.ts'

/**
 * Finds the folder of the session that the user means: by the session's id, a unique beginning or end of the id, or the path of the folder.
 *
 * @throws UserError `usage` if there is no such session, or if the id is too short or several ids match
 */
export function findSessionFolder(given: string): string {
  if (statSync(given, { throwIfNoEntry: false })?.isDirectory() === true) {
    if (existsSync(join(given, 'rollout.jsonl'))) return resolve(given)
    throw new UserError('usage', `${given} is not a session folder: it contains no rollout.jsonl.`)
  }
  const states = stateFolders()
  const id = findSession(states, given)
  const folders = states.map((state) => sessionDirectory(state, id))
  return folders.find((folder) => existsSync(folder)) ?? folders[0] ?? id
}
