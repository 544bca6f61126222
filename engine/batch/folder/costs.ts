import type { BatchFolder } from './batch-folder.ts'

/** What attempts cost: once each, as whoever knew most of them said. */

/**
 * What an attempt cost, in US dollars. What was said of it later is of the same run, and has in it what it had cost before.
 *
 * @returns undefined where nobody knows
 */
export function costOfAttempt(folder: BatchFolder, trial: string, attempt: number): number | undefined {
  const known = [folder.attemptOf(trial, attempt), folder.supersededOf(trial, attempt)].flatMap(
    (record) => record?.cost_usd ?? [],
  )
  return known.length === 0 ? undefined : Math.max(...known)
}

/** The same, for whoever must not pass a limit: of a run that was lost, all that it might have cost counts. */
export function mostOfAttempt(folder: BatchFolder, trial: string, attempt: number): number {
  return Math.max(costOfAttempt(folder, trial, attempt) ?? 0, folder.attemptOf(trial, attempt)?.reserved_usd ?? 0)
}

/**
 * What all attempts of a trial cost, lost and superseded ones too.
 *
 * @returns undefined where nobody knows of any
 */
export function costOfTrial(folder: BatchFolder, trial: string): number | undefined {
  const known = folder.attempts(trial).flatMap((attempt) => costOfAttempt(folder, trial, attempt) ?? [])
  return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0)
}
