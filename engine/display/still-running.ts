import type { Item, RunEvent } from '../core/events.ts'
import { activity } from './activity.ts'
import { sanitizeForTerminal } from './sanitize-for-terminal.ts'
import { lastLines } from './tail-lines.ts'

const minute = 60_000
/** When to report that something is still running, in minutes since it began. Some CI services cancel a job that is silent for ten minutes. */
const firstTimes = [1, 2, 5]
const later = 5

/** Reports from time to time that something is still running, so that a log isn't silent. */
type StillRunning = {
  event(event: RunEvent): void
  tail(id: string, read: () => string): void
  end(): void
}

type Watched = { timer: NodeJS.Timeout; read?: () => string }

/**
 * Watches commands and tool calls, and reports from time to time those that are still running.
 *
 * @param print the function that prints lines: how long something has been running, and the last line of its output, if any
 */
export function watchLongRunning(print: (lines: readonly string[]) => void): StillRunning {
  const watched = new Map<string, Watched>()
  const wait = (item: Item, minutes: number): NodeJS.Timeout => {
    const [next = minutes + later] = firstTimes.filter((time) => time > minutes)
    // A sink must never keep the process alive.
    return setTimeout(
      () => {
        const one = watched.get(item.id)
        if (one === undefined) return
        const last = one.read === undefined ? [] : lastLines(sanitizeForTerminal(one.read()), 1)
        print([
          `… still running (${next} min): ${sanitizeForTerminal(activity(item))}`,
          ...last.map((line) => `    ${line}`),
        ])
        one.timer = wait(item, next)
      },
      (next - minutes) * minute,
    ).unref()
  }
  const forget = (id: string): void => {
    clearTimeout(watched.get(id)?.timer)
    watched.delete(id)
  }
  return {
    event(event) {
      if (event.type === 'item.started' && takesTime(event.item)) {
        watched.set(event.item.id, { timer: wait(event.item, 0) })
      }
      if (event.type === 'item.completed') forget(event.item.id)
    },
    tail(id, read) {
      const one = watched.get(id)
      if (one !== undefined) one.read = read
    },
    end() {
      for (const id of [...watched.keys()]) forget(id)
    },
  }
}

function takesTime({ type }: Item): boolean {
  return type === 'command_execution' || type === 'verification' || type === 'mcp_tool_call' || type === 'tool_call'
}
