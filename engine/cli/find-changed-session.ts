import { UserError } from '../core/user-error.ts'
import { findSession } from '../session/session.ts'
import { readViewState, type ViewState } from '../transaction/view-state.ts'
import { lastRun, sessionsHere, storedSessions, type StoredSession } from './last-run.ts'
import { stateFolders } from './state-folders.ts'

/** A session whose runs were transactions. */
export type ChangedSession = { readonly id: string; readonly directory: string; readonly state: ViewState }

/**
 * Finds the session that the user means: by its id, or by a unique beginning or end of the id. Without an id, it is the newest session that worked in the current
 * directory, even if it has nothing to show: what an older one did is not what the user asked about.
 *
 * @throws UserError `usage` if there is none, and for a session that has no private view, because its runs worked directly in the tree or were killed
 * before the view was complete. The message then names the newest session that has one
 */
export function findChangedSession(given: string | undefined): ChangedSession {
  const { id, directory } = given === undefined ? lastRun() : sessionOf(given)
  const state = readViewState(directory)
  if (state !== undefined && state.state !== 'making') return { id, directory, state }
  const why = 'its runs worked in the tree itself, or ended before their private view was made'
  throw new UserError('usage', `The session ${id} has no changes of its own: ${why}.${hintAt(newestHere(() => true))}`)
}

/** The newest session of the current directory whose private view meets a condition; undefined if there is none. */
export function newestHere(meets: (state: ViewState) => boolean): string | undefined {
  return sessionsHere().find(({ directory }) => {
    const state = stateOrUndefined(directory)
    return state !== undefined && state.state !== 'making' && meets(state)
  })?.id
}

/** A sentence that names a session that has what the user may have meant; empty if there is none. */
export function hintAt(id: string | undefined): string {
  return id === undefined ? '' : ` The newest run here that has some is ${id}.`
}

function sessionOf(given: string): StoredSession {
  const folders = stateFolders()
  const id = findSession(folders, given)
  const found = storedSessions(folders).find((session) => session.id === id)
  if (found === undefined) throw new UserError('usage', `There is no session '${given}'.`)
  return found
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

function stateOrUndefined(directory: string): ViewState | undefined {
  try {
    return readViewState(directory)
  } catch (error) {
    // If the state of a session is damaged, only commands for this session must fail.
    if (error instanceof UserError) return undefined
    throw error
  }
}
