import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseStat, type ProcessStat } from './stat.ts'

/** Sends a signal to a process, or to a group when the pid is negative; one that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Already gone, which is what was wanted.
  }
}

/** Resolves when a process is dead. The first process of a pid namespace dies last, so for that one: the whole tree. */
export async function waitForExit(pid: number): Promise<void> {
  for (let wait = 0; isAlive(pid); wait = Math.min(wait + 1, 20)) await sleep(wait)
}

/**
 * Whether anybody of a process group lives. The dead whose parent is gone may stay in the table for long, as in a container without an init;
 * where there is no procfs, they count.
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

/** Undefined where there is no such process. */
function statOf(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}
