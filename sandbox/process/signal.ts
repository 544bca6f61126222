import { readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Sends a signal to a process, or to a group when the pid is negative; one that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Already gone, which is what was wanted.
  }
}

/** Resolves when a process is dead. The first process of a pid namespace dies last, so for that one: the whole tree. */
export async function gone(pid: number): Promise<void> {
  for (let wait = 0; isAlive(pid); wait = Math.min(wait + 1, 20)) await sleep(wait)
}

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // A zombie has died and only waits for its parent, which may never ask.
    return !'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
  } catch {
    // No entry, no process.
    return false
  }
}
