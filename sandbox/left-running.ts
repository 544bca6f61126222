import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { readdirSync, readlinkSync } from './host-paths.ts'
import { signal } from './process/signal.ts'

/**
 * Ends processes that still have a pipe in a killed run's directory open. Such processes exist if the engine is killed before bwrap has finished its
 * setup. Until then, bwrap's first process inside the sandbox doesn't end together with bwrap (bubblewrap 0.8, `main`), and it waits forever for the
 * engine's go-ahead. Does nothing without procfs.
 */
export async function endLeftRunning(directory: string): Promise<void> {
  // A process may fork during the search, so the search is repeated, but only 50 times: a process that can't be killed must not block the caller.
  for (let round = 0; round < 50; round += 1) {
    const left = holdersOf(join(directory, 'pipes/'))
    if (left.length === 0) return
    for (const pid of left) signal(pid, 'SIGKILL')
    await sleep(20)
  }
}

function holdersOf(start: string): readonly number[] {
  const pids = linksIn('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return pids.filter((pid) => descriptorsOf(pid).some((path) => path.startsWith(start))).map(Number)
}

function descriptorsOf(pid: string): readonly string[] {
  const directory = `/proc/${pid}/fd`
  return linksIn(directory).map((name) => {
    try {
      return readlinkSync(join(directory, name))
    } catch {
      // The descriptor has been closed in the meantime.
      return ''
    }
  })
}

function linksIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // The process belongs to another user or has ended, or the system has no procfs.
    return []
  }
}
