import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { UserError } from '../core/user-error.ts'
import { parseStat } from '../../sandbox/index.ts'

declare const locked: unique symbol

/** The path of a session's folder that this process has locked. Functions that store or remove a run's work take only such a path. */
export type LockedFolder = string & { readonly [locked]: true }

/** The lock of a session's folder. */
type SessionLock = { readonly directory: LockedFolder; readonly release: () => void }

/** Why a process locks a session. If another process needs the lock, it shows this text to its user. */
const uses = {
  run: 'running this session',
  land: "landing this session's changes",
  undo: "reverting this session's changes",
  discard: "discarding this session's changes",
  look: 'finding out what this session changed',
  settle: 'finding out whether an interrupted landing of this session took effect',
  prune: 'removing this session',
} as const

/**
 * Locks a session's folder for this process, because two runs at the same time would mix their conversations in one rollout and break the hash chain of the
 * audit log, and because what a run has changed can be recorded, landed and removed only while nobody else works on it. The lock of a process that
 * has ended is ignored, however the process ended.
 *
 * @param lender the process that started this one to work under its lock. Default: this process needs the lock itself
 * @throws UserError `usage` if another process holds the lock; the message names that process
 */
export function lockSession(directory: string, use: keyof typeof uses, lender?: number): SessionLock {
  const file = join(directory, 'running')
  const own = JSON.stringify({ pid: process.pid, started: startOf(process.pid), doing: uses[use] })
  const other = takeLock(file, own)
  if (other === undefined) return { directory: directory as LockedFolder, release: () => rmSync(file, { force: true }) }
  if (other.pid === lender) return { directory: directory as LockedFolder, release: () => undefined }
  const instead = use === 'run' ? ', or fork the session' : ''
  throw new UserError(
    'usage',
    `${directory}: process ${other.pid} is ${other.doing ?? uses.run}. Wait until it ends${instead}.`,
  )
}

/**
 * Takes a lock by creating its file, unless a live process other than this one holds the lock. If several processes try at the same time, one of
 * them gets it: a new file appears under its name with its whole content, and a dead process's file is replaced only by the process that holds
 * a second lock, which is specific to that dead process.
 *
 * @param own the content that says who holds the lock
 * @returns undefined if this process now holds the lock; otherwise the process that holds it
 */
function takeLock(file: string, own: string): Owner | undefined {
  for (;;) {
    if (appears(file, own)) return undefined
    const content = readIfThere(file)
    if (content === undefined) continue
    const owner = ownerIn(content)
    if (owner?.pid !== process.pid && owner !== undefined && isProcessAlive(owner)) return owner
    const turn = `${file}-after-${owner === undefined ? 'nobody' : `${owner.pid}-${owner.started ?? ''}`}`
    const first = takeLock(turn, own)
    if (first !== undefined) return first
    try {
      if (readIfThere(file) !== content) continue
      const next = `${turn}-next`
      writeFileSync(next, own, { mode: 0o600 })
      renameSync(next, file)
      return undefined
    } finally {
      rmSync(turn, { force: true })
    }
  }
}

/** Makes a file with this content if none exists. Other processes never see a part of the content. */
function appears(file: string, content: string): boolean {
  const next = `${file}-${process.pid}-${process.hrtime.bigint()}`
  try {
    writeFileSync(next, content, { mode: 0o600, flag: 'wx' })
    linkSync(next, file)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    // Some file systems have no hard links.
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP') return isWritten(file, content)
    throw error
  } finally {
    rmSync(next, { force: true })
  }
}

function isWritten(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
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
  const isLookedAt = (): boolean => isLocked(directory) && readOwner(join(directory, 'running'))?.doing === uses.look
  while (isLookedAt() && performance.now() < until) await wait(betweenTries)
  return lockSession(directory, use)
}

/** Whether a live process holds the lock of a session's folder. */
export function isLocked(directory: string): boolean {
  const owner = readOwner(join(directory, 'running'))
  return owner !== undefined && isProcessAlive(owner)
}

type Owner = { readonly pid: number; readonly started?: string | undefined; readonly doing?: string | undefined }

function readOwner(file: string): Owner | undefined {
  return ownerIn(readIfThere(file) ?? '')
}

function ownerIn(content: string): Owner | undefined {
  try {
    const { pid, started, doing } = JSON.parse(content) as Partial<Owner>
    return typeof pid === 'number' ? { pid, started, doing } : undefined
  } catch {
    // The content is incomplete, because its writer was killed.
    return undefined
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Whether a process is still running. `started` is its start time as returned by `startOf`: without it, a later process with the same id would
 * look the same. A process that has died does not count as running even if its parent never reaps it, which happens in a container
 * whose first process reaps no children.
 */
export function isProcessAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = statOf(pid)
  if (now?.isDead === true) return false
  // Process ids are reused, but the start times differ.
  return started === undefined || now?.start === undefined || now.start === started
}

/**
 * A process's start time, as a number of clock ticks since Linux was booted; undefined if there is no process with this id, or the system isn't
 * Linux.
 */
export function startOf(pid: number): string | undefined {
  return statOf(pid)?.start
}

function statOf(pid: number): ReturnType<typeof parseStat> | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}
