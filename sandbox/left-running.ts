import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { signal } from './process/signal.ts'

/**
 * Ends what still holds a pipe of a killed run's directory. bwrap ties its first process inside to nobody's life before it has set up what is around it
 * (bubblewrap 0.8 `main`): where the engine is killed in that moment, that process waits for ever for a go-ahead. Does nothing without procfs.
 */
export async function endLeftRunning(directory: string): Promise<void> {
  // Again until there is none, as one may fork while it is looked for; but no start waits for what can't be ended.
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
      // Closed meanwhile.
      return ''
    }
  })
}

function linksIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Somebody else's process, or one that has ended; or no procfs at all.
    return []
  }
}
