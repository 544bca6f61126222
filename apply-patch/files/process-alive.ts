import { readFileSync } from 'node:fs'
import { errnoOf } from './commit-error.ts'

// This folder uses the global `process`, because importing `node:process` evaluates all its getters, including the one for stdin, and loads their
// streams, which takes a third of the time that Node itself needs to start.

/**
 * Whether a process is still running. `started` is its start time as returned by `startOf`: without it, a later process with the same id would look the same. A
 * process that has died doesn't count as running even if its parent never reaps it, which happens in a container whose first process reaps no children.
 *
 * @internal
 */
export function isProcessAlive({
  pid,
  started,
}: {
  readonly pid: number
  readonly started?: string | undefined
}): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists, and belongs to another user.
    if (errnoOf(error) !== 'EPERM') return false
  }
  const now = statOf(pid)
  if (now?.isDead === true) return false
  return started === undefined || now?.start === undefined || now.start === started
}

/**
 * A process's start time in clock ticks since boot, which together with its id identifies it; undefined if there is no such process, or this isn't Linux.
 *
 * @internal
 */
export function startOf(pid: number | 'self'): string | undefined {
  return statOf(pid)?.start
}

/** Reads `/proc/PID/stat`. The program's name, in parentheses, may contain any character, so the fields are counted from the last closing one. */
function statOf(pid: number | 'self'): { readonly isDead: boolean; readonly start: string | undefined } | undefined {
  const text = readProc(`/proc/${pid}/stat`)
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields && { isDead: 'ZX'.includes(fields[0] ?? ''), start: fields[19] }
}

/** The text of a file in `/proc`; undefined if this isn't Linux, `/proc` is not mounted, or the process no longer exists. */
export function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}
