import { setTimeout as wait } from 'node:timers/promises'
import { holderOf, lockFolder } from '../core/folder-lock.ts'
import { UserError } from '../core/user-error.ts'

declare const locked: unique symbol

/** The path of a session's folder that this process has locked. Functions that store or remove a run's work take only such a path. */
export type LockedFolder = string & { readonly [locked]: true }

/** The lock of a session's folder. */
export type SessionLock = { readonly directory: LockedFolder; readonly release: () => void }

/** Why a process locks a session. If another process needs the lock, it shows this text to its user. */
const uses = {
  run: 'running this session',
  land: "landing this session's changes",
  undo: "reverting this session's changes",
  discard: "discarding this session's changes",
  work: "running a command in this session's view",
  look: 'finding out what this session changed',
  settle: 'finding out whether an interrupted landing of this session took effect',
  prune: 'removing this session',
} as const

/** The name of the lock in a session's folder. */
const name = 'running'

/**
 * Locks a session's folder for this process, because two runs at the same time would mix their conversations in one rollout and break the hash chain of the
 * audit log, and because what a run has changed can be recorded, landed and removed only while nobody else works on it. The lock of a process that
 * has ended is ignored, however the process ended.
 *
 * @param lender the process that started this one to work under its lock. Default: this process needs the lock itself
 * @throws UserError `usage` if another process holds the lock; the message names that process
 */
export function lockSession(directory: string, use: keyof typeof uses, lender?: number): SessionLock {
  const taken = lockFolder(directory, name, uses[use])
  if ('lock' in taken) return { directory: directory as LockedFolder, release: taken.lock.release }
  const { holder } = taken
  if (holder === 'undecided') {
    const why = 'a process that has been suspended may be about to use this session'
    throw new UserError('usage', `${directory}: ${why}. Let it go on or end it, then try again.`)
  }
  if (holder.pid === lender) return { directory: directory as LockedFolder, release: () => undefined }
  const instead = use === 'run' ? ', or fork the session' : ''
  throw new UserError('usage', `${directory}: process ${holder.pid} is ${holder.doing}. Wait until it ends${instead}.`)
}

/** Does the same as `lockSession`, but returns undefined if another process holds the lock. */
export function lockIfFree(directory: string, use: keyof typeof uses): SessionLock | undefined {
  try {
    return lockSession(directory, use)
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/** How long to wait for a process that only looks at a session, and how long between two attempts, in milliseconds. */
const [longestWait, betweenTries] = [20_000, 100]

/**
 * Does the same as `lockSession`, but waits for processes that only find out what the session changed, which don't take long.
 *
 * @throws UserError `usage` if another process holds the lock
 */
export async function lockWhenFree(directory: string, use: keyof typeof uses): Promise<SessionLock> {
  const until = performance.now() + longestWait
  const isLookedAt = (): boolean => holderOf(directory, name)?.doing === uses.look
  while (isLookedAt() && performance.now() < until) await wait(betweenTries)
  return lockSession(directory, use)
}

/** Whether a live process holds the lock of a session's folder. */
export function isLocked(directory: string): boolean {
  return holderOf(directory, name) !== undefined
}
