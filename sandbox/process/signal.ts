import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { readdirSync, readFileSync } from '../host-paths.ts'
import { parseStat, type ProcessStat } from './stat.ts'

/** Sends a signal to a process, or to a process group if the pid is negative. It does nothing if the process has ended or can't be signalled. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended, or can't be signalled.
  }
}

/**
 * Resolves when a process is dead; without procfs, at once. In a pid namespace, the first process dies last, so waiting for it means waiting for the
 * whole process tree.
 */
export async function waitForExit(pid: number): Promise<void> {
  for (let wait = 0; isAlive(pid); wait = Math.min(wait + 1, 20)) await sleep(wait)
}

/**
 * Whether any process of a group is alive. Dead processes that nobody reaps may stay in the process table for a long time, as in a container without
 * an init process. They don't count as alive, except on systems without procfs.
 *
 * @internal
 */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    return stat?.group === group && !stat.isDead
  })
}

function isAlive(pid: number): boolean {
  return statOf(pid)?.isDead === false
}

/** Returns the parsed text of `/proc/PID/stat` for a process; undefined if there is no such process. */
function statOf(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}
