import { sumDollars } from '../../core/money.ts'
import type { BatchFolder } from './batch-folder.ts'

/** The costs of attempts. Each attempt counts once, with its most complete report. */

/**
 * The cost of an attempt, in US dollars. If there are several reports about the attempt, the highest cost counts, because a later report includes the
 * cost in earlier ones.
 *
 * @returns undefined if the cost is unknown
 */
export function costOfAttempt(folder: BatchFolder, trial: string, attempt: number): number | undefined {
  // A run that was considered lost may report more usage after its record was written.
  const reports = [folder.attemptOf(trial, attempt), folder.supersededOf(trial, attempt), folder.stepOf(trial, attempt)]
  const known = reports.flatMap((report) => report?.cost_usd ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

/** The amount in US dollars that an attempt counts against a cost limit. If its real cost is unknown, this is the amount that was reserved for it. */
export function mostOfAttempt(folder: BatchFolder, trial: string, attempt: number): number {
  return Math.max(costOfAttempt(folder, trial, attempt) ?? 0, folder.attemptOf(trial, attempt)?.reserved_usd ?? 0)
}

/**
 * The cost of all attempts of a trial, including lost and superseded ones.
 *
 * @returns undefined if no cost is known
 */
export function costOfTrial(folder: BatchFolder, trial: string): number | undefined {
  const known = folder.attempts(trial).flatMap((attempt) => costOfAttempt(folder, trial, attempt) ?? [])
  return known.length === 0 ? undefined : sumDollars(known)
}
