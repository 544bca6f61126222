import process from 'node:process'
import { isInside } from '../core/directories-between.ts'
import { findAppPaths, stateFor } from '../core/app-paths.ts'
import { UserError } from '../core/user-error.ts'
import { findSession, listSessions, sessionDirectory } from '../session/session.ts'
import { readViewState, type ViewState } from '../transaction/view-state.ts'

/** A session whose runs were transactions. */
export type ChangedSession = { readonly id: string; readonly directory: string; readonly state: ViewState }

/**
 * The folders that can contain sessions: the user's state folder and, if that folder is in the workspace, the other folder in which sessions are then
 * stored.
 */
export function stateFolders(): readonly string[] {
  const { state } = findAppPaths(process.env)
  return [...new Set([stateFor([process.cwd()], state), state])]
}

/**
 * Finds the session that the user means: by its id, or by a unique beginning or end of the id. Without an id, it is the newest session whose private view
 * includes the current directory.
 *
 * @throws UserError `usage` if there is none, and for a session that has no private view, because its runs worked directly in the tree or were killed
 * before the view was complete
 */
export function findChangedSession(given: string | undefined): ChangedSession {
  const folders = stateFolders()
  const all = sessionsIn(folders)
  const id = given === undefined ? undefined : findSession(folders, given)
  const here = process.cwd()
  for (const session of all) {
    if (id !== undefined && session.id !== id) continue
    const state = readViewState(session.directory)
    if (state === undefined || state.state === 'making') continue
    if (id !== undefined || state.roots.some(({ path }) => isInside(here, path))) return { ...session, state }
  }
  throw new UserError(
    'usage',
    id === undefined
      ? `No run in ${here} used --transactional. To see all sessions, run agent sessions list.`
      : `The session ${id} has no changes of its own: its runs worked in the tree itself, without --transactional, or ended before their private view was made.`,
  )
}

/** The id of the session that landed the patch with this id in a tree; undefined if no session did. */
export function sessionThatLanded(root: string, patch: string): string | undefined {
  return sessionsIn(stateFolders()).find(({ directory }) => {
    const { landings = [], pending } = stateOrUndefined(directory) ?? {}
    return [...landings, ...(pending === undefined ? [] : [pending])].some(
      (each) => each.id === patch && each.root === root,
    )
  })?.id
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

function sessionsIn(folders: readonly string[]): readonly { readonly id: string; readonly directory: string }[] {
  return folders.flatMap((folder) =>
    listSessions(folder).map((id) => ({ id, directory: sessionDirectory(folder, id) })),
  )
}
