import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newThreadId } from '../core/thread-id.ts'
import { noUsage } from '../core/usage.ts'
import { UserError } from '../core/user-error.ts'
import { cutAtMessage } from './message-ids.ts'
import { isEmpty, readRollout, type ReadRollout } from './rollout.ts'
import { cutAfter } from './steps.ts'
import { ephemeralSession, findSession, listSessions, openSession, sessionDirectory, type Session } from './session.ts'

/**
 * How a run begins: in a new session, as the next run of a session, or in a new session with the history of another. `through`: the id, as `MessageIds` makes
 * it, of the last thing said that the history keeps; what came later is left out. Default: the whole history.
 */
export type Start =
  /** `as`: the id of the new session, a UUID that no session has. Default: a new unique id. */
  | { readonly type: 'new'; readonly as?: string }
  /** If `id` is undefined, the newest session is resumed: of all, if `everywhere`, otherwise of those that were started in the run's workspace. */
  | {
      readonly type: 'resume'
      readonly id: string | undefined
      readonly everywhere?: boolean
      /** Whether a session that works in another workspace counts as missing. Default: false. */
      readonly here?: boolean
      readonly through?: string
    }
  /** `at`: the step after which the new session continues; everything after it is left out. Default: the last step. */
  | {
      readonly type: 'fork'
      readonly id: string | undefined
      readonly at?: number
      readonly here?: boolean
      readonly through?: string
      readonly as?: string
    }

/** What is known about a run's session before it is opened. */
export type Beginning = {
  /** The session whose history the run continues, with its usage and cost so far (zero for a fork); undefined for a new session. */
  readonly resumedFrom: ReadRollout | undefined
  readonly threadId: string
  /** The path of the session's folder, which may not exist yet. */
  readonly directory: string
  /** The path of the folder of the session whose history the run continues; undefined for a new session. */
  readonly earlier: string | undefined
  /**
   * Creates or reopens the session's folder. Nothing is written before this call.
   *
   * @param source the name that the client gave itself; stored if the session is new
   * @param passing the directory in which an ephemeral session's folder is created. Undefined: the session isn't ephemeral but stored
   */
  open(workspace: string, source?: string, passing?: string): Session
}

/**
 * Determines the session that a run will work in, without opening it yet.
 *
 * @param stateDir the program's state folder
 * @param workspace the directory the run works in; `--last` means the last session in it
 * @param chosen the id of a new session. Default: a new unique id
 * @throws UserError `usage` if the session to resume or fork can't be found or read, or doesn't have the step to fork from; or if the id of a new
 *   session is no UUID or taken
 */
export function prepareStart(start: Start, stateDir: string, workspace: string, chosen?: string): Beginning {
  const whole = start.type === 'new' ? undefined : readEarlier(start, stateDir, workspace)
  const earlier = whole && cut(whole, start)
  const wanted = start.type === 'resume' ? undefined : start.as
  if (wanted !== undefined) requireFree(wanted, stateDir)
  const threadId =
    start.type === 'resume' && earlier !== undefined
      ? earlier.session.thread_id
      : (chosen ?? wanted ?? newThreadId(Date.now()))
  return {
    threadId,
    resumedFrom: start.type === 'fork' && earlier !== undefined ? { ...earlier, usage: noUsage, costUsd: 0 } : earlier,
    directory: sessionDirectory(stateDir, threadId),
    earlier: earlier && sessionDirectory(stateDir, earlier.session.thread_id),
    open: (directory, source, passing) => {
      if (passing !== undefined) return ephemeralSession(threadId, passing)
      const session = openSession(stateDir, threadId)
      if (start.type !== 'resume') begin(session, directory, earlier, source)
      else if (earlier !== whole) session.rollout.append({ type: 'cut', items: earlier?.original.length ?? 0 })
      return session
    },
  }
}

function cut(whole: ReadRollout, start: Start): ReadRollout {
  if (start.type === 'fork' && start.at !== undefined) return cutAfter(whole, start.at)
  return start.type === 'new' || start.through === undefined ? whole : cutAtMessage(whole, start.through)
}

function requireFree(id: string, stateDir: string): void {
  // The id is the name of a folder, so it must be nothing but a UUID.
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))
    throw new UserError('usage', `${JSON.stringify(id)} can't be the id of a session: expected a UUID in lower case.`)
  if (existsSync(sessionDirectory(stateDir, id)))
    throw new UserError('usage', `There is a session ${id} already. Resume it, or choose another id.`)
}

function readEarlier(start: Exclude<Start, { type: 'new' }>, stateDir: string, workspace: string): ReadRollout {
  const { id } = start
  const everywhere = start.type === 'resume' && start.everywhere === true
  const read = (name: string): ReadRollout => readRollout(join(sessionDirectory(stateDir, name), 'rollout.jsonl'))
  if (id !== undefined) {
    const found = read(findSession([stateDir], id))
    if (start.here === true && found.session.workspace !== workspace)
      throw new UserError('usage', `There is no session ${id} in ${workspace}.`)
    return found
  }
  for (const name of listSessions(stateDir)) {
    // A run that was killed before it wrote a line left nothing to resume, so its session is skipped.
    if (isEmpty(join(sessionDirectory(stateDir, name), 'rollout.jsonl'))) continue
    const rollout = read(name)
    // A single command, or a call of another agent, has no conversation either.
    if (rollout.original.length === 0) continue
    if (everywhere || rollout.session.workspace === workspace) return rollout
  }
  throw new UserError('usage', `There is no earlier session in ${workspace} that can be continued.`)
}

function begin(
  { rollout, threadId }: Session,
  workspace: string,
  earlier: ReadRollout | undefined,
  source: string | undefined,
): void {
  const forked = earlier === undefined ? {} : { forked_from: earlier.session.thread_id }
  const from = source === undefined ? {} : { source }
  const started = new Date().toISOString()
  rollout.append({ type: 'session', version: 1, thread_id: threadId, started, workspace, ...forked, ...from })
  if (earlier === undefined) return
  for (const item of earlier.original) rollout.append({ type: 'item', item })
  if (earlier.history !== earlier.original) rollout.append({ type: 'compaction', items: earlier.history })
}
