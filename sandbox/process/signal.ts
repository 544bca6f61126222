import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseStat, type ProcessStat } from './stat.ts'

/** Sends a signal to a process, or to a group if the pid is negative. It is no error if the process no longer exists. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended already, which was the goal.
  }
}

/** Resolves when a process is dead. The first process of a pid namespace dies last, so for that one: the whole tree. */
export async function waitForExit(pid: number): Promise<void> {
  for (let wait = 0; isAlive(pid); wait = Math.min(wait + 1, 20)) await sleep(wait)
}

/**
 * Whether any process of a group lives. Dead processes whose parent is gone may stay in the process table for long, as in a container without an
 * init; without procfs, they count as alive.
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

/** Undefined if there is no such process. */
function statOf(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}
