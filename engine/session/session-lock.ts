import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { UserError } from '../core/user-error.ts'
import { parseStat } from '../../sandbox/index.ts'

/**
 * Locks a session's folder for this process: two runs at once would mix two conversations in one rollout, and break the chain of
 * its audit log. A lock whose process has ended does not count, however it ended.
 *
 * @returns a function that releases the lock
 * @throws UserError `usage` that names the process which runs the session
 */
export function lockSession(directory: string): () => void {
  const file = join(directory, 'running')
  const owner = readOwner(file)
  if (owner !== undefined && owner.pid !== process.pid && isProcessAlive(owner)) {
    throw new UserError(
      'usage',
      `${directory}: the session is being run by process ${owner.pid}. Wait for its end, or fork the session.`,
    )
  }
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }), { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

/** Whether a process holds the lock of a session's folder. */
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
    // Missing, or torn because its writer was killed.
    return undefined
  }
}

/**
 * Whether the process that a number meant once still runs: `started` is when it began, as `startOf` says it. One that has died and is never collected
 * by its parent, as where a container's first process collects none, does not.
 */
export function isProcessAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = statOf(pid)
  if (now?.isDead === true) return false
  // Process ids are reused; the start time tells a process from its successor.
  return started === undefined || now?.start === undefined || now.start === started
}

/** When a process began, as Linux counts it; undefined elsewhere. */
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
