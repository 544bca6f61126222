import { join } from 'node:path'
import { UserError } from '../core/user-error.ts'
import { readRollout, type ReadRollout } from '../session/rollout.ts'
import { listSessions, sessionDirectory } from '../session/session.ts'
import { sessionBeginning } from './session-beginning.ts'
import { stateFolders } from './state-folders.ts'

type Summary = {
  readonly id: string
  readonly started: string
  readonly workspace: string
  /** How the session's last run ended; `unreadable` for a session that can't be read, whose `prompt` then says why. */
  readonly end: string
  /** What the user said first; empty if there is no conversation. */
  readonly prompt: string
}

/** Returns all sessions. Within each folder, the newest session comes first. */
export function allSessions(workspace?: string): readonly (readonly [state: string, id: string])[] {
  return stateFolders(workspace).flatMap((state) => listSessions(state).map((id) => [state, id] as const))
}

/** Returns the summaries of the sessions that worked in a workspace; of all sessions if it is undefined. */
export function summaries(workspace?: string): readonly Summary[] {
  return allSessions(workspace)
    .filter(([state, id]) => {
      return workspace === undefined || sessionBeginning(sessionDirectory(state, id)).workspace === workspace
    })
    .map(([state, id]) => summarize(state, id))
}

function summarize(state: string, id: string): Summary {
  try {
    const rollout = readRollout(rolloutOf(state, id))
    const prompt = rollout.original.find((item) => item.type === 'message' && item.role === 'user')
    return {
      id,
      started: rollout.session.started,
      workspace: rollout.session.workspace,
      end: endOf(rollout),
      prompt: prompt?.type === 'message' ? prompt.text : '',
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { id, started: '', workspace: '', end: 'unreadable', prompt: error.message }
  }
}

/** How the last run of a session ended, in a word or two. */
export function endOf({ end }: ReadRollout): string {
  return end?.reason ?? 'cut off'
}

/** The path of a session's rollout. */
export function rolloutOf(state: string, id: string): string {
  return join(sessionDirectory(state, id), 'rollout.jsonl')
}

/** A text in one line, cut to a length. */
export function oneLine(text: string, length: number): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, length)
}
