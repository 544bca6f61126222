import { sumDollars } from '../../core/money.ts'
import type { TrialResult } from '../derived/results.ts'
import { isAnswer, outcomes, type Outcome } from '../outcome.ts'
import { meanInterval, passAtK, signTest, wilsonInterval, type Estimate } from './estimates.ts'

/** The results of one model. */
export type ModelStatistics = {
  /** The model's name. Undefined: the configured model. */
  readonly model: string | undefined
  readonly trials: number
  /** The number of trials that were settled with an answer. The shares are computed from this number. */
  readonly answers: number
  readonly solved: number
  /** The number of tasks with an answer. */
  readonly tasks: number
  /** The number of tasks that at least one trial solved. */
  readonly solvedTasks: number
  /** The share of answers that solved their task. Undefined if there are no answers. */
  readonly share: Estimate | undefined
  /**
   * pass@k: for each `k`, the mean probability that at least one of `k` tries solves a task. Only the tasks with at least `k` answers count; `tasks` is their
   * number.
   */
  readonly passAt: readonly { readonly k: number; readonly value: number; readonly tasks: number }[]
  /** The cost of the settled trials as far as it is known, including their attempts without an answer. */
  readonly costUsd: number
  /** The number of settled trials whose cost is unknown, for example because a model has no known price. */
  readonly unpriced: number
  readonly durationMs: number
  /** `costUsd` divided by the number of runs that solved their task. Undefined if no run solved its task. */
  readonly costPerSolvedUsd: number | undefined
  readonly msPerSolved: number | undefined
  /** How many runs ended without an answer, by outcome. They don't affect the shares. */
  readonly withoutAnswer: Readonly<Partial<Record<Outcome, number>>>
  readonly open: number
}

/** Two models compared task by task, on the tasks that both of them answered. */
export type PairedStatistics = {
  readonly a: string | undefined
  readonly b: string | undefined
  readonly tasks: number
  /** The share of tries that `b` solved minus the share that `a` solved, averaged over the tasks that both answered. Undefined: there are no such tasks. */
  readonly difference: Estimate | undefined
  /** The number of tasks that `b` solved more often than `a`. */
  readonly wins: number
  /** The number of tasks that `b` solved less often than `a`. */
  readonly losses: number
  /** The p-value: the probability that wins and losses are at least as uneven as observed if the models are equally good. */
  readonly p: number
}

/** The statistics of a batch's models. */
export type BatchStatistics = {
  readonly models: readonly ModelStatistics[]
  readonly pairs: readonly PairedStatistics[]
}

/**
 * Computes the statistics of each model and compares the models in pairs. A run that ended without an answer doesn't count as a try, but its cost
 * counts.
 */
export function compareModels(results: readonly TrialResult[]): BatchStatistics {
  const byModel = new Map<string | undefined, TrialResult[]>()
  for (const result of results) {
    const own = byModel.get(result.trial.model)
    if (own === undefined) byModel.set(result.trial.model, [result])
    else own.push(result)
  }
  const all = [...byModel].map(([model, own]) => ({ model, own, tries: triesByTask(own) }))
  const pairs = all.flatMap((a, at) => all.slice(at + 1).map((b) => compareTwo(a, b)))
  return { models: all.map(({ model, own, tries }) => addUp(model, own, tries)), pairs }
}

/** A model's tries at one task: how many of them gave an answer, and how many of those solved the task. */
type Tries = { readonly answers: number; readonly solved: number }

function triesByTask(results: readonly TrialResult[]): ReadonlyMap<string, Tries> {
  const tries = new Map<string, Tries>()
  for (const { trial, settled } of results) {
    if (settled === undefined || !isAnswer(settled.outcome)) continue
    const { answers, solved } = tries.get(trial.task) ?? { answers: 0, solved: 0 }
    tries.set(trial.task, { answers: answers + 1, solved: solved + (settled.outcome === 'done' ? 1 : 0) })
  }
  return tries
}

function addUp(
  model: string | undefined,
  results: readonly TrialResult[],
  tries: ReadonlyMap<string, Tries>,
): ModelStatistics {
  const settled = results.flatMap((result) => (result.settled === undefined ? [] : [result.settled]))
  const all = [...tries.values()]
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const answers = sum(all.map((one) => one.answers))
  const solved = sum(all.map((one) => one.solved))
  const costUsd = sumDollars(settled.map((record) => record.total_cost_usd ?? 0))
  const durationMs = sum(settled.map((record) => record.duration_ms))
  const counted = outcomes
    .filter((outcome) => !isAnswer(outcome))
    .map((outcome) => [outcome, settled.filter((record) => record.outcome === outcome).length] as const)
  return {
    model,
    trials: results.length,
    answers,
    solved,
    tasks: tries.size,
    solvedTasks: all.filter((one) => one.solved > 0).length,
    share: wilsonInterval(solved, answers),
    passAt: passAts(all),
    costUsd,
    unpriced: settled.filter((record) => record.total_cost_usd === undefined).length,
    durationMs,
    costPerSolvedUsd: solved === 0 ? undefined : costUsd / solved,
    msPerSolved: solved === 0 ? undefined : durationMs / solved,
    withoutAnswer: Object.fromEntries(counted.filter(([, count]) => count > 0)),
    open: results.length - settled.length,
  }
}

function passAts(tries: readonly Tries[]): ModelStatistics['passAt'] {
  const most = tries.reduce((found, { answers }) => Math.max(found, answers), 0)
  return Array.from({ length: most }, (_, at) => at + 1).map((k) => {
    const values = tries.flatMap(({ answers, solved }) => passAtK(answers, solved, k) ?? [])
    return { k, value: values.reduce((sum, value) => sum + value, 0) / values.length, tasks: values.length }
  })
}

type Side = { readonly model: string | undefined; readonly tries: ReadonlyMap<string, Tries> }

function compareTwo(a: Side, b: Side): PairedStatistics {
  const differences = [...a.tries].flatMap(([task, { answers, solved }]) => {
    const other = b.tries.get(task)
    return other === undefined ? [] : [other.solved / other.answers - solved / answers]
  })
  const wins = differences.filter((difference) => difference > 0).length
  const losses = differences.filter((difference) => difference < 0).length
  return {
    a: a.model,
    b: b.model,
    tasks: differences.length,
    difference: meanInterval(differences, { least: -1, most: 1 }),
    wins,
    losses,
    p: signTest(wins, losses),
  }
}
