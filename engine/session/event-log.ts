import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { RunEvent, RunSummary, Sink, UsageSoFar } from '../core/events.ts'
import { maskRecord } from '../core/text/mask-record.ts'
import type { Mask } from '../core/text/mask-secrets.ts'
import { version } from '../core/version.ts'

/** The file in a session's folder that contains its events. */
export const eventLogName = 'events.jsonl'

/** The prompt and the context of a run. They are stored in the run's first record, because no event contains them. */
type RunBeginning = { readonly prompt: string; readonly context: readonly string[] }

/** A line of the log. `at` is the time of writing, in milliseconds since 1970. */
type EventRecord = { readonly at: number } & (
  | ({ readonly type: 'begin'; readonly version: string } & RunBeginning)
  | { readonly type: 'event'; readonly event: RunEvent }
  | ({ readonly type: 'spent' } & UsageSoFar)
  | { readonly type: 'summary'; readonly files: RunSummary['filesChanged']; readonly commands: RunSummary['commands'] }
)

/**
 * Stores a run's events in its session's folder, one event per line, so that reports can be made from them. The rollout contains only the
 * conversation with the model, not the decisions, durations and changes. If writing fails, no more events are stored, but the run continues.
 *
 * @param directory the session's folder
 * @param mask masks the values of withheld variables in the beginning. Default: they are not masked there
 */
export function eventLog(directory: string, beginning: RunBeginning, mask?: Mask): Sink {
  let descriptor: number | undefined
  let isLost = false
  const write = (record: EventRecord): void => {
    if (isLost) return
    try {
      if (descriptor === undefined) {
        descriptor = openSync(join(directory, eventLogName), 'a', 0o600)
        write({ type: 'begin', at: Date.now(), version, ...maskRecord(beginning, mask) })
      }
      const line = Buffer.from(`${JSON.stringify(record)}\n`)
      for (let written = 0; written < line.length;) written += writeSync(descriptor, line, written)
    } catch {
      isLost = true
    }
  }
  return {
    event: (event) => {
      // Updates of items are only for live displays, so they are not stored.
      if (event.type !== 'item.updated') write({ type: 'event', at: Date.now(), event })
    },
    spent: (spent) => write({ type: 'spent', at: Date.now(), ...spent }),
    end: (summary) => {
      write(summaryRecord(summary))
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
      isLost = true
    },
  }
}

/** The records that the log will contain after a run's last events. */
export function lastRecords(events: readonly RunEvent[], summary: RunSummary): readonly EventRecord[] {
  if (events.length === 0) return []
  return [...events.map((event) => ({ type: 'event' as const, at: Date.now(), event })), summaryRecord(summary)]
}

function summaryRecord({ filesChanged, commands }: RunSummary): EventRecord {
  return { type: 'summary', at: Date.now(), files: filesChanged, commands }
}
