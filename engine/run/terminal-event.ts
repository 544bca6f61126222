import type { Changes } from '../core/changes/change-watch.ts'
import type { EndReason } from '../core/exit-codes.ts'
import type { Result, RunEvent, RunSummary, Verified } from '../core/events.ts'
import type { Usage } from '../core/model.ts'
import { noUsage, sumCost, sumUsage } from '../core/usage.ts'
import type { ResumedSession } from './resumed-session.ts'
import { countChanges, eventUsage } from './summarize.ts'

const results: Readonly<Record<EndReason, Result>> = {
  done: 'done',
  failed: 'failed',
  usage: 'failed',
  stoppedByGuardian: 'denied',
  budget: 'budget',
  sandboxUnavailable: 'no-sandbox',
  provider: 'provider',
  interrupted: 'interrupted',
  terminated: 'interrupted',
}

/**
 * Returns the result of a run, in one word.
 *
 * @param changes the run's changes. Undefined: they aren't considered, because they were not tracked or the run is a review, which should change nothing
 * @param headMoved whether a different branch or commit is checked out than at the beginning
 * @param verified the results of the `--verify` commands
 */
export function resultOf(
  reason: EndReason,
  changes: Changes | undefined,
  headMoved = false,
  verified: Iterable<Verified> = [],
): Result {
  const verdicts = [...verified].flatMap(({ passed, judged }) => (passed ? [] : (judged?.verdict ?? [])))
  const judged = (['weakened', 'revised'] as const).find((verdict) => verdicts.includes(verdict))
  if (reason === 'failed' && judged !== undefined) return judged
  return reason === 'done' && !headMoved && isUnchanged(changes) ? 'no-change' : results[reason]
}

/** Whether it is known that a run changed nothing. */
export function isUnchanged(changes: Changes | undefined): boolean {
  return changes?.files.length === 0 && changes.notCounted === undefined
}

/**
 * Creates the last event of a run.
 *
 * @param resumedFrom the resumed session, whose earlier usage and cost are included in the totals
 */
export function terminalEvent(summary: RunSummary, resumedFrom: ResumedSession | undefined, used: Usage): RunEvent {
  const {
    reason,
    error,
    costUsd,
    auditHead,
    unenforced = [],
    withheld,
    changes,
    transaction,
    verified,
    review,
    contradictions = [],
    record,
    patchNotes = [],
  } = summary
  const { usage: before, costUsd: paid } = resumedFrom ?? { usage: noUsage, costUsd: 0 }
  const total = sumCost(paid, costUsd)
  const common = {
    result: summary.result ?? results[reason],
    ...(record === undefined ? {} : { record }),
    ...(contradictions.length === 0 ? {} : { contradictions: [...contradictions] }),
    usage: summary.usage,
    total_usage: eventUsage(sumUsage(before, used)),
    ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
    ...(total === undefined ? {} : { total_cost_usd: total }),
    duration_ms: summary.durationMs,
    denied: summary.denied.length,
    ...(auditHead === undefined ? {} : { audit_head: auditHead }),
    ...(unenforced.length === 0 ? {} : { sandbox_unenforced: [...unenforced] }),
    ...(withheld === undefined ? {} : { environment_withheld: { ...withheld } }),
    ...(changes === undefined ? {} : { changes: countChanges(changes) }),
    ...(patchNotes.length === 0 ? {} : { patch_notes: someOf(patchNotes) }),
    ...(verified === undefined ? {} : { verified: [...verified] }),
    ...(review === undefined ? {} : { review }),
    ...(transaction === undefined ? {} : { transaction }),
  }
  if (error === undefined) return { type: 'turn.completed', ...common }
  return { type: 'turn.failed', error: { message: error }, reason, exit_code: summary.exitCode, ...common }
}

/** The maximum number of notes about patches in the event. */
const mostNotes = 20

function someOf(notes: readonly string[]): string[] {
  if (notes.length <= mostNotes) return [...notes]
  return [...notes.slice(0, mostNotes - 1), `${notes.length - mostNotes + 1} more notes, not listed here`]
}
