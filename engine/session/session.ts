import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../user-error.ts'
import { claimSession } from './claim.ts'
import { noRollout, openRollout, type Rollout } from './rollout.ts'

/** A run's own folder: its rollout, its audit log, and whole outputs that were too long to show. */
export type Session = {
  readonly threadId: string
  readonly directory: string
  readonly rollout: Rollout
  /** Keeps a whole output and gives its path. */
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
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const close = claimSession(directory)
    return { ...folder(threadId, directory), rollout: openRollout(join(directory, 'rollout.jsonl')), close }
  } catch (error) {
    if (error instanceof UserError) throw error
    const hint = 'The audit log lives there; set XDG_STATE_HOME to a folder that can be written.'
    throw new UserError('usage', `${directory}: can't be made: ${(error as Error).message}. ${hint}`, { cause: error })
  }
}

/**
 * A session that leaves nothing behind: its folder is a temporary one and goes when it is closed, and no rollout is kept.
 *
 * @param base where that folder is made: what lies in it decides what was audited, and what file tools may read, so no command may get there
 */
export function ephemeralSession(threadId: string, base: string): Session {
  const directory = mkdtempSync(join(base, 'portcullis-'))
  return {
    ...folder(threadId, directory),
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
 * The sessions that are kept, newest first.
 *
 * @returns their ids; a thread's id begins with the time it was made, so that is what they are sorted by
 */
export function listSessions(stateDir: string): readonly string[] {
  const directory = join(stateDir, 'sessions')
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => statSync(join(directory, name)).isDirectory())
    .toSorted()
    .toReversed()
}

/**
 * The session that a user means: a whole id, or the beginning of one that no other begins with.
 *
 * @throws UserError `usage` when there is none or more than one
 */
export function findSession(stateDir: string, id: string): string {
  const matching = listSessions(stateDir).filter((name) => name === id || (id.length >= 4 && name.startsWith(id)))
  const [only, ...others] = matching
  if (only === undefined)
    throw new UserError('usage', `There is no session '${id}'. agent sessions list shows those there are.`)
  if (others.length > 0) throw new UserError('usage', `'${id}' could be any of ${matching.join(', ')}`)
  return only
}
