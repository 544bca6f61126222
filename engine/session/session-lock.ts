import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { UserError } from '../core/user-error.ts'
import { parseStat } from '../../sandbox/index.ts'

/**
 * Locks a session's folder for this process, because two runs at the same time would mix their conversations in one rollout and break the hash chain of the
 * audit log. The lock of a process that has ended is ignored, however the process ended.
 *
 * @returns a function that releases the lock
 * @throws UserError `usage` if another process is running the session; the message names that process
 */
export function lockSession(directory: string): () => void {
  const file = join(directory, 'running')
  const owner = readOwner(file)
  if (owner !== undefined && owner.pid !== process.pid && isProcessAlive(owner)) {
    throw new UserError(
      'usage',
      `${directory}: process ${owner.pid} is running this session. Wait until it ends, or fork the session.`,
    )
  }
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }), { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

/** Whether a live process holds the lock of a session's folder. */
export function isLocked(directory: string): boolean {
  const owner = readOwner(join(directory, 'running'))
  return owner !== undefined && isProcessAlive(owner)
}

type Owner = { readonly pid: number; readonly started?: string | undefined }

function readOwner(file: string): Owner | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Owner>
    return typeof pid === 'number' ? { pid, started } : undefined
  } catch {
    // The file is missing, or incomplete because its writer was killed.
    return undefined
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
