import { sumDollars } from '../../core/money.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { costOfAttempt, costOfTrial } from '../folder/costs.ts'
import type { SettledRecord } from '../folder/records.ts'
import { isAnswer, outcomes, type Outcome } from '../outcome.ts'
import type { Trial } from '../trials.ts'

/** A trial and its result. `settled` is undefined while the trial has no result. */
export type TrialResult = { readonly trial: Trial; readonly settled: SettledRecord | undefined }

/** The results of all trials of a batch. */
export function resultsOf(folder: BatchFolder, trials: readonly Trial[]): readonly TrialResult[] {
  return trials.map((trial) => {
    const settled = folder.settled(trial.key)
    if (settled === undefined) return { trial, settled }
    // Costs that were reported after the trial was settled count too.
    const total = costOfTrial(folder, trial.key)
    return { trial, settled: { ...settled, ...(total === undefined ? {} : { total_cost_usd: total }) } }
  })
}

/** Renders the text of `results.jsonl`: a line for each settled trial. */
export function renderResults(results: readonly TrialResult[]): string {
  return results
    .flatMap(({ trial, settled }) => (settled === undefined ? [] : [`${JSON.stringify(lineOf(trial, settled))}\n`]))
    .join('')
}

function lineOf({ key, task, model, repeat }: Trial, settled: SettledRecord): object {
  const { outcome, attempts, total_cost_usd: total, patch, error, duration_ms, files, commit, turns, tokens } = settled
  return {
    id: task,
    ...(model === undefined ? {} : { model }),
    repeat,
    outcome,
    answer: isAnswer(outcome),
    attempts,
    cost_usd: total ?? null,
    patch: patch ?? null,
    ...(error === undefined ? {} : { error }),
    duration_ms,
    files,
    ...(settled.verified === undefined ? {} : { verified: settled.verified }),
    ...(settled.verdict === undefined ? {} : { verdict: settled.verdict }),
    turns,
    tokens,
    ...(commit === undefined ? {} : { commit }),
    session: settled.session ?? null,
    trial: key,
  }
}

/** The progress and the results of a batch. */
export type Summary = {
  readonly version: 1
  readonly manifest: string
  readonly trials: number
  readonly settled: number
  /** The number of trials that were settled with an answer. Only these trials count when the share of solved trials is computed. */
  readonly answers: number
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>
  readonly attempts: number
  /** The cost of all attempts for which the prices are known, including lost and superseded attempts. */
  readonly cost_usd: number
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number }
}

/** Returns the content of `summary.json`. */
export function summaryOf(folder: BatchFolder, results: readonly TrialResult[]): Summary {
  const counted: Partial<Record<Outcome, number>> = {}
  const costs: number[] = []
  let [settled, answers, attempts] = [0, 0, 0]
  const tokens = { input: 0, cached: 0, output: 0 }
  for (const { trial, settled: record } of results) {
    if (record !== undefined) {
      settled += 1
      answers += isAnswer(record.outcome) ? 1 : 0
      counted[record.outcome] = (counted[record.outcome] ?? 0) + 1
    }
    for (const number of folder.attempts(trial.key)) {
      const attempt = folder.attemptOf(trial.key, number)
      attempts += 1
      costs.push(costOfAttempt(folder, trial.key, number) ?? 0)
      tokens.input += attempt?.tokens.input ?? 0
      tokens.cached += attempt?.tokens.cached ?? 0
      tokens.output += attempt?.tokens.output ?? 0
    }
  }
  const inOrder = Object.fromEntries(
    outcomes.flatMap((name) => (counted[name] === undefined ? [] : [[name, counted[name]]])),
  )
  return {
    version: 1,
    manifest: folder.hash,
    trials: results.length,
    settled,
    answers,
    outcomes: inOrder,
    attempts,
    cost_usd: sumDollars(costs),
    tokens,
  }
}
