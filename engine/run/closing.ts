import type { Withheld } from '../../sandbox/index.ts'
import type { Changes } from '../core/changes/change-watch.ts'
import type { Contradiction, RunEvent, RunRecord, RunSummary } from '../core/events.ts'
import type { ReviewReport } from '../core/review-report-schema.ts'
import type { TransactionReport } from '../core/run-summary.ts'

/** Facts that are known only when a run is over. */
export type Closing = {
  /** The cost of this run in US dollars; undefined if a price is unknown. */
  readonly cost?: number | undefined
  /** The number of records in the audit log and the hash of the last one, as `RECORDS:HASH`. */
  readonly auditHead?: string
  /** Default limits that the sandbox could not enforce. */
  readonly unenforced?: readonly string[]
  /** Environment variables that were withheld from commands. */
  readonly withheld?: Withheld
  /** The combined changes of patches and commands; undefined if changes by commands were not tracked. */
  readonly changes?: Changes
  /** What happened to the changes of a transaction. */
  readonly transaction?: TransactionReport
  /** Facts that the model claimed, but that the record contradicts. */
  readonly contradictions?: readonly Contradiction[]
  /** The result of a review. */
  readonly review?: ReviewReport
  /** Whether the checked-out branch or commit changed during the run. */
  readonly headMoved?: boolean
  /** The commits that the run made; null if git could not be asked. Absent: none. */
  readonly commits?: RunRecord['commits']
}

/** How a run ends: its summary, and the events that are still to come, of which the last one is the terminal event. */
export type Conclusion = { readonly summary: RunSummary; readonly events: readonly RunEvent[] }
