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
  /** Undefined for the first model. */
  readonly versusFirst: Versus | undefined
}

/** A model compared with the first one, task by task, on the tasks that both of them answered. */
type Versus = {
  readonly tasks: number
  /** The share of tries that this model solved minus that of the first, averaged over the tasks. Undefined: there are no such tasks. */
  readonly difference: Estimate | undefined
  /** The number of tasks that this model solved more often than the first. */
  readonly wins: number
  readonly losses: number
  /** The p-value: the probability that wins and losses are at least as uneven as observed if the models are equally good. */
  readonly p: number
}

/** Computes the statistics of each model. A run that ended without an answer doesn't count as a try, but its cost counts. */
export function compareModels(results: readonly TrialResult[]): readonly ModelStatistics[] {
  const byModel = [...Map.groupBy(results, ({ trial }) => trial.model)]
  const all = byModel.map(([model, own]) => ({ model, own, tries: triesByTask(own) }))
  return all.map(({ model, own, tries }, at) => ({
    ...addUp(model, own, tries),
    versusFirst: at === 0 ? undefined : compareTwo(all[0]?.tries ?? new Map<string, Tries>(), tries),
  }))
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
): Omit<ModelStatistics, 'versusFirst'> {
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

function compareTwo(first: ReadonlyMap<string, Tries>, own: ReadonlyMap<string, Tries>): Versus {
  const differences = [...first].flatMap(([task, { answers, solved }]) => {
    const other = own.get(task)
    return other === undefined ? [] : [other.solved / other.answers - solved / answers]
  })
  const wins = differences.filter((difference) => difference > 0).length
  const losses = differences.filter((difference) => difference < 0).length
  const difference = meanInterval(differences, { least: -1, most: 1 })
  return { tasks: differences.length, difference, wins, losses, p: signTest(wins, losses) }
}
