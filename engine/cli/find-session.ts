import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findWorkspace } from '../app/workspace.ts'
import { isInside } from '../core/directories-between.ts'
import { UserError } from '../core/user-error.ts'
import { findSession, listSessions, sessionDirectory } from '../session/session.ts'
import { readRecord } from '../transaction/change-record.ts'
import { readViewState, type ViewState } from '../transaction/view-state.ts'
import { tell } from './print.ts'
import { sessionBeginning } from './session-beginning.ts'
import { stateFolders } from './state-folders.ts'

/** How commands find the stored session that the user means. */

/** How the user names a run: by its session, or as the newest one in a directory. */
export type NamedRun = string | { readonly newestIn: string }

type StoredSession = { readonly id: string; readonly directory: string }

/** A session whose runs were transactions. */
export type ChangedSession = StoredSession & { readonly state: ViewState }

/**
 * Finds the folder of the session that the user means: by the session's id, a unique beginning or end of the id, or the path of the folder.
 *
 * @throws UserError `usage` if there is no such session, or if the id is too short or several ids match
 */
export function findSessionFolder(given: NamedRun): string {
  if (typeof given !== 'string') return lastRun(given).directory
  const place = statSync(given, { throwIfNoEntry: false })
  if (place !== undefined && !place.isFile() && !place.isDirectory())
    throw new UserError('usage', `${given} is a pipe, a socket or a device; expected a session, or a regular file.`)
  if (place?.isDirectory() !== true) return named(given).directory
  if (existsSync(join(given, 'rollout.jsonl'))) return resolve(given)
  throw new UserError('usage', `${given} is not a session folder: it contains no rollout.jsonl.`)
}

/**
 * Finds the session that the user means: by its id, or by a unique beginning or end of the id. The newest session of a directory is meant even if it has
 * nothing to show: what an older one did is not what the user asked about.
 *
 * @param meets what the user wants of the session, so that the message names another that has it
 * @throws UserError `usage` if there is none, and for a session that has no private view, because its runs worked directly in the tree or were killed
 * before the view was complete. The message then names the newest session that has one
 */
export function findChangedSession(given: NamedRun, meets: Condition = hasChanges): ChangedSession {
  const { id, directory } = typeof given === 'string' ? named(given) : lastRun(given)
  const state = readViewState(directory)
  if (state !== undefined && state.state !== 'making') return { id, directory, state }
  const why =
    'its runs worked in the tree itself, where only git can show and revert what they did, or ended before their private view was made'
  throw new UserError('usage', `The session ${id} has no changes of its own: ${why}.${hintAtNewest(given, meets)}`)
}

type Condition = (state: ViewState, directory: string) => boolean

function hasChanges({ state }: ViewState, directory: string): boolean {
  return state !== 'discarded' && (readRecord(directory)?.changes.length ?? 0) > 0
}

/** A sentence that names the newest session whose private view meets a condition, in the directory that the user means; empty if there is none. */
export function hintAtNewest(given: NamedRun, meets: Condition): string {
  const found = sessionsIn(directoryOf(given)).find(({ directory }) => {
    try {
      const state = readViewState(directory)
      return state !== undefined && state.state !== 'making' && meets(state, directory)
    } catch (error) {
      if (error instanceof UserError) return false
      throw error
    }
  })
  return found === undefined ? '' : ` The newest run here that has some is ${found.id}.`
}

/** The id of the session that landed the patch with this id in a tree; undefined if no session did. */
export function sessionThatLanded(root: string, patch: string): string | undefined {
  return storedSessions().find(({ directory }) => {
    const { landings = [], pending } = stateOrUndefined(directory) ?? {}
    return [...landings, ...(pending === undefined ? [] : [pending])].some(
      (each) => each.id === patch && each.root === root,
    )
  })?.id
}

/** All stored sessions, newest first in each folder. */
function storedSessions(folders = stateFolders()): readonly StoredSession[] {
  return folders.flatMap((folder) =>
    listSessions(folder).map((id) => ({ id, directory: sessionDirectory(folder, id) })),
  )
}

function directoryOf(given: NamedRun): string {
  return findWorkspace(typeof given === 'string' ? '.' : given.newestIn)
}

/** The sessions that worked in a directory, or in one that contains it, newest first. */
function sessionsIn(here: string): readonly StoredSession[] {
  return storedSessions()
    .filter(({ directory }) => {
      const { workspace } = sessionBeginning(directory)
      return workspace !== undefined && isInside(here, workspace)
    })
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
}

/** The newest session that worked in a directory, whatever its runs did: what `--last` means. Says on standard error which one it is. */
function lastRun(given: NamedRun): StoredSession {
  const here = directoryOf(given)
  const [newest] = sessionsIn(here)
  if (newest === undefined)
    throw new UserError('usage', `No run worked in ${here}. To see all sessions, run agent sessions list.`)
  tell(`The newest run here: ${newest.id}`)
  return newest
}

function named(given: string): StoredSession {
  const id = findSession(stateFolders(), given)
  const found = storedSessions().find((session) => session.id === id)
  if (found === undefined) throw new UserError('usage', `There is no session '${given}'.`)
  return found
}

function stateOrUndefined(directory: string): ViewState | undefined {
  try {
    return readViewState(directory)
  } catch (error) {
    // If the state of a session is damaged, only commands for this session must fail.
    if (error instanceof UserError) return undefined
    throw error
  }
}
