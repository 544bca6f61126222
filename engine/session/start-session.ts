import { join } from 'node:path'
import { newThreadId } from '../core/thread-id.ts'
import { noUsage } from '../core/usage.ts'
import { UserError } from '../core/user-error.ts'
import { isEmpty, readRollout, type ReadRollout } from './rollout.ts'
import { cutAfter } from './steps.ts'
import { ephemeralSession, findSession, listSessions, openSession, sessionDirectory, type Session } from './session.ts'

/** How a run begins: as a new session, as the next run of a session, or as a new session with another one's history. */
export type Start =
  | { readonly type: 'new' }
  /** `id` undefined: the newest session of this workspace. */
  | { readonly type: 'resume'; readonly id: string | undefined }
  /** `at`: the step that the new session goes on from; what was said after it is left out. Absent: the last. */
  | { readonly type: 'fork'; readonly id: string | undefined; readonly at?: number }

/** What a run begins with. */
export type Beginning = {
  /** The session that the run continues; undefined for a new one. A fork has no costs of its own yet. */
  readonly resumedFrom: ReadRollout | undefined
  readonly threadId: string
  /** Where the session's own folder is, or will be. */
  readonly directory: string
  /**
   * Makes or reopens the session's folder. Nothing is written before.
   *
   * @param source who begins the session, as the client names itself; stored with a new one
   * @param passing the directory for an ephemeral session. Default: everything is stored
   */
  open(workspace: string, source?: string, passing?: string): Session
}

/**
 * Finds out what a run begins with.
 *
 * @param stateDir the program's state folder
 * @param workspace the directory the run works in; `--last` means the last session of this one
 * @param chosen the id of a new session. Default: one that no other has
 * @throws UserError `usage` when the session doesn't exist or can't be read
 */
export function prepareStart(start: Start, stateDir: string, workspace: string, chosen?: string): Beginning {
  const whole = start.type === 'new' ? undefined : readEarlier(start.id, stateDir, workspace)
  const at = start.type === 'fork' ? start.at : undefined
  const earlier = whole === undefined || at === undefined ? whole : cutAfter(whole, at)
  const threadId =
    start.type === 'resume' && earlier !== undefined ? earlier.session.thread_id : (chosen ?? newThreadId(Date.now()))
  return {
    threadId,
    resumedFrom: start.type === 'fork' && earlier !== undefined ? { ...earlier, usage: noUsage, costUsd: 0 } : earlier,
    directory: sessionDirectory(stateDir, threadId),
    open: (directory, source, passing) => {
      if (passing !== undefined) return ephemeralSession(threadId, passing)
      const session = openSession(stateDir, threadId)
      if (start.type !== 'resume') begin(session, directory, earlier, source)
      return session
    },
  }
}

function readEarlier(id: string | undefined, stateDir: string, workspace: string): ReadRollout {
  const read = (name: string): ReadRollout => readRollout(join(sessionDirectory(stateDir, name), 'rollout.jsonl'))
  if (id !== undefined) return read(findSession([stateDir], id))
  for (const name of listSessions(stateDir)) {
    // Killed before its first line was written: there is nothing to resume.
    if (isEmpty(join(sessionDirectory(stateDir, name), 'rollout.jsonl'))) continue
    const rollout = read(name)
    if (rollout.session.workspace === workspace) return rollout
  }
  throw new UserError('usage', `There is no session of ${workspace} to go on with.`)
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
