import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectories, makePassingDirectory } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { lockSession } from './session-lock.ts'
import { noRollout, openRollout, type Rollout } from './rollout.ts'

/** A run's own folder: its rollout, its audit log, and whole outputs that were too long to show. */
export type Session = {
  readonly threadId: string
  readonly directory: string
  /** Whether it can be resumed: an ephemeral one can't. */
  readonly kept: boolean
  readonly rollout: Rollout
  /** Stores a whole output and gives its path. */
  keepOutput(bytes: Uint8Array): string
  /** Ends its use; an ephemeral one is gone then. */
  close(): void
}

/**
 * Makes or reopens the folder of a run, readable by its owner alone.
 *
 * @param stateDir the program's state folder
 * @throws UserError `usage` when it can't be made: a run that can't be audited is not started; or when another process runs it
 */
export function openSession(stateDir: string, threadId: string): Session {
  const directory = sessionDirectory(stateDir, threadId)
  try {
    makeDirectories(directory)
    const close = lockSession(directory)
    return { ...folder(threadId, directory), kept: true, rollout: openRollout(join(directory, 'rollout.jsonl')), close }
  } catch (error) {
    if (error instanceof UserError) throw error
    const hint = 'The audit log lives there; set XDG_STATE_HOME to a folder that can be written.'
    throw new UserError('usage', `${directory}: can't be made: ${(error as Error).message}. ${hint}`, { cause: error })
  }
}

/**
 * A session that leaves nothing behind: its folder is temporary and is removed when the session is closed, or by the next command if this
 * process was killed, and there is no rollout.
 *
 * @param base where that folder is made: its contents decide what was audited and what file tools may read, so no command may have
 *   access
 */
export function ephemeralSession(threadId: string, base: string): Session {
  const directory = makePassingDirectory(base)
  return {
    ...folder(threadId, directory),
    kept: false,
    rollout: noRollout,
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function folder(threadId: string, directory: string): Pick<Session, 'threadId' | 'directory' | 'keepOutput'> {
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

/** Where a session lives. */
export function sessionDirectory(stateDir: string, threadId: string): string {
  return join(stateDir, 'sessions', threadId)
}

/**
 * The stored sessions, newest first.
 *
 * @returns their ids; an id begins with the time of its creation, which is the sort order
 */
export function listSessions(stateDir: string): readonly string[] {
  const directory = join(stateDir, 'sessions')
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => statSync(join(directory, name)).isDirectory())
    .toSorted()
    .toReversed()
}

/** Fewer characters are no name. */
const shortest = 4
const listedCandidates = 10

/**
 * The session that a user means: by a whole id, or the beginning or end of just one. Ids of the same hour begin alike, so ends make shorter
 * names.
 *
 * @throws UserError `usage` when there is none, or more than one, which are then listed
 */
export function findSession(stateDirs: readonly string[], given: string): string {
  const id = given.trim().toLowerCase()
  const all = stateDirs.flatMap(listSessions)
  if (all.includes(id)) return id
  if (id.length < shortest) {
    const message = `'${given}' is too short for a session: at least ${shortest} characters of its id, from its beginning or end.`
    throw new UserError('usage', `${message} agent sessions list shows those there are.`)
  }
  const matching = all.filter((name) => name.startsWith(id) || name.endsWith(id))
  const [only, ...others] = matching
  if (only === undefined)
    throw new UserError('usage', `There is no session '${given}'. agent sessions list shows those there are.`)
  if (others.length === 0) return only
  const more = matching.length > listedCandidates ? [`… and ${matching.length - listedCandidates} more`] : []
  const candidates = [...matching.slice(0, listedCandidates), ...more].map((name) => `\n  ${name}`).join('')
  throw new UserError(
    'usage',
    `'${given}' could be any of these sessions, the newest first; give more of its beginning or end:${candidates}`,
  )
}
