import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectories, makePassingDirectory } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { lockSession, type LockedFolder, type SessionLock } from './session-lock.ts'
import { noRollout, openRollout, type Rollout } from './rollout.ts'

/** A session's folder: its rollout, its audit log, and the full text of outputs that were too long to show. */
export type Session = {
  readonly threadId: string
  readonly directory: LockedFolder
  /** Whether the session can be resumed: an ephemeral one can't. */
  readonly kept: boolean
  readonly rollout: Rollout
  /** Stores a full output and returns the path of its file. */
  keepOutput(bytes: Uint8Array): string
  /** Unlocks the session's folder, so that another run can open it. The folder of an ephemeral session is deleted. */
  close(): void
}

/**
 * Creates or reopens the folder of a session. Only the user who owns the folder can read it.
 *
 * @param stateDir the program's state folder
 * @throws UserError `usage` if another process is running the session, or if the folder can't be created or written (a run that can't be audited must
 *   not start)
 */
export function openSession(stateDir: string, threadId: string): Session {
  const { lock } = lockSessionFolder(sessionDirectory(stateDir, threadId))
  try {
    const rollout = openRollout(join(lock.directory, 'rollout.jsonl'))
    return { ...folder(threadId, lock.directory), kept: true, rollout, close: lock.release }
  } catch (error) {
    throw unusable(lock.directory, error)
  }
}

/**
 * Creates the folder of a session if it doesn't exist, and locks it for a run.
 *
 * @returns the lock, and the directories that were created, outermost first
 * @throws UserError `usage` if another process is running the session, or if the folder can't be created
 */
export function lockSessionFolder(directory: string): { readonly lock: SessionLock; readonly made: readonly string[] } {
  try {
    const made = makeDirectories(directory)
    return { lock: lockSession(directory, 'run'), made }
  } catch (error) {
    throw unusable(directory, error)
  }
}

function unusable(directory: string, error: unknown): UserError {
  if (error instanceof UserError) return error
  const hint = 'The audit log is stored there. Set XDG_STATE_HOME to a folder that you can write to.'
  return new UserError('usage', `${directory}: can't be used: ${(error as Error).message}. ${hint}`, { cause: error })
}

/**
 * Creates a session that leaves nothing behind. It has no rollout, and its folder is temporary: it is removed when the session is closed or, if this
 * process was killed, by the next `agent` command.
 *
 * @param base where the folder is created. No command may have access to it: it will contain the audit log, and outputs that file tools may read
 */
export function ephemeralSession(threadId: string, base: string): Session {
  // No lock is needed, because no other process knows this folder.
  const directory = makePassingDirectory(base) as LockedFolder
  return {
    ...folder(threadId, directory),
    kept: false,
    rollout: noRollout,
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function folder(threadId: string, directory: LockedFolder): Pick<Session, 'threadId' | 'directory' | 'keepOutput'> {
  let kept = readdirSync(directory).filter((name) => name.startsWith('output-')).length
  return {
    threadId,
    directory,
    keepOutput(bytes) {
      const file = join(directory, `output-${++kept}.txt`)
      writeFileSync(file, bytes, { mode: 0o600 })
      return file
    },
  }
}

/** The path of a session's folder. */
export function sessionDirectory(stateDir: string, threadId: string): string {
  return join(stateDir, 'sessions', threadId)
}

/**
 * Lists the ids of the stored sessions, newest first.
 */
export function listSessions(stateDir: string): readonly string[] {
  const directory = join(stateDir, 'sessions')
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .flatMap((name) => {
      const found = statSync(join(directory, name))
      return found.isDirectory() ? [{ name, began: timeOf(name) ?? found.birthtimeMs }] : []
    })
    .toSorted((one, other) => other.began - one.began || (one.name < other.name ? 1 : -1))
    .map(({ name }) => name)
}

/** The creation time in an id that this program made, in milliseconds; undefined for one that a client chose. */
function timeOf(id: string): number | undefined {
  return id[14] === '7' ? parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16) : undefined
}

/** The minimum number of characters that a user must give of a session's id. */
const shortest = 4
const listedCandidates = 10

/**
 * Finds the session that a user means by a whole id, or by the beginning or end of an id if only one matches. Ids that were created in the same hour
 * begin alike, so the end identifies a session with fewer characters than the beginning does.
 *
 * @throws UserError `usage` if the text is too short, if no session matches, or if several do; in the last case, the message lists them
 */
export function findSession(stateDirs: readonly string[], given: string): string {
  const id = given.trim().toLowerCase()
  const all = stateDirs.flatMap(listSessions)
  if (all.includes(id)) return id
  if (id.length < shortest) {
    const message = `'${given}' is too short: give at least ${shortest} characters of a session's id, from its beginning or end.`
    throw new UserError('usage', `${message} 'agent sessions list' shows all sessions.`)
  }
  const matching = all.filter((name) => name.startsWith(id) || name.endsWith(id))
  const [only, ...others] = matching
  if (only === undefined)
    throw new UserError('usage', `There is no session '${given}'. 'agent sessions list' shows all sessions.`)
  if (others.length === 0) return only
  const more = matching.length > listedCandidates ? [`… and ${matching.length - listedCandidates} more`] : []
  const candidates = [...matching.slice(0, listedCandidates), ...more].map((name) => `\n  ${name}`).join('')
  throw new UserError(
    'usage',
    `'${given}' matches more than one session. Give more characters of the id. These match, newest first:${candidates}`,
  )
}
