import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UserError } from '../../core/user-error.ts'
import { findSession, listSessions, sessionDirectory } from '../../session/session.ts'
import { sessionBeginning } from '../session-beginning.ts'
import { stateFolders } from '../state-folders.ts'

/** The audit log of a session. */
export type SessionLog = {
  readonly session: string
  readonly path: string
  /** The workspace of the session; undefined if the session's folder doesn't name it. */
  readonly workspace: string | undefined
}

const logName = 'audit.jsonl'
/** The maximum depth to which a folder on the command line is searched. A batch stores its sessions several levels down. */
const deepest = 8

/**
 * Finds the audit logs that a command line names. Each name is the id of a session, the beginning or end of an id, the folder of a session, a folder
 * that contains session folders (at most `deepest` levels down), or a log itself. Sessions without a log are left out, because no action was judged
 * in them.
 *
 * @param all whether to include all stored sessions
 * @throws UserError `usage` for a name that is none of these
 */
export function findLogs(named: readonly string[], all: boolean): readonly SessionLog[] {
  const states = stateFolders()
  const kept = all
    ? states.flatMap((state) => listSessions(state).map((id) => join(sessionDirectory(state, id), logName)))
    : []
  const paths = [...kept, ...named.flatMap((one) => logsOf(one, states))]
  return [...new Set(paths)].filter((path) => isFile(path)).map(describeLog)
}

function logsOf(named: string, states: readonly string[]): readonly string[] {
  const place = statSync(named, { throwIfNoEntry: false })
  if (place?.isFile() === true) return [resolve(named)]
  if (place === undefined) {
    const id = findSession(states, named)
    return states.map((state) => join(sessionDirectory(state, id), logName))
  }
  const found = logsBelow(resolve(named), deepest)
  if (found.length > 0 || isFile(join(named, 'rollout.jsonl'))) return found
  throw new UserError(
    'usage',
    `${named}: there is no session here; expected a folder that contains a file ${logName}, at most ${deepest} levels down.`,
  )
}

function logsBelow(folder: string, depth: number): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  if (entries.some((entry) => entry.name === logName && entry.isFile())) return [join(folder, logName)]
  if (depth === 0) return []
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .toSorted()
    .flatMap((below) => logsBelow(below, depth - 1))
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function describeLog(path: string): SessionLog {
  const directory = dirname(path)
  const { threadId = basename(directory), workspace } = sessionBeginning(directory)
  return { session: threadId, path, workspace }
}
