import { sumDollars } from '../../core/money.ts'
import { dollars, seconds, short } from '../../display/format-values.ts'
import type { AttemptRecord } from '../folder/records.ts'
import type { Outcome } from '../outcome.ts'
import type { Trial } from '../trials.ts'
import type { RunMessage } from './supervisor-messages.ts'

type Running = {
  readonly trial: Trial
  readonly since: number
  what: string
  tokens: number
  cost: number
}

/** The progress of a batch, for observers. */
export class Progress {
  readonly #running = new Map<string, Running>()
  readonly #outcomes = new Map<Outcome, number>()
  readonly #all: number
  readonly #before: number
  readonly #began = Date.now()
  #settled: number
  #cost = 0
  #tokens = 0
  #attempts = 0
  #paused: string | undefined

  /**
   * @param all the total number of trials
   * @param outcomes the outcomes of the trials that were settled before this start
   * @param cost the cost of earlier attempts in US dollars
   */
  constructor(all: number, outcomes: readonly Outcome[], cost: number) {
    this.#all = all
    this.#settled = outcomes.length
    this.#before = outcomes.length
    this.#cost = cost
    for (const outcome of outcomes) this.#count(outcome)
  }

  begun(trial: Trial): void {
    this.#running.set(trial.key, { trial, since: Date.now(), what: 'starting', tokens: 0, cost: 0 })
  }

  said(trial: Trial, message: RunMessage): void {
    const running = this.#running.get(trial.key)
    if (running === undefined) return
    if (message.type === 'step') running.what = message.what
    if (message.type === 'spent') {
      running.tokens = message.tokens
      running.cost = message.cost_usd ?? 0
    }
  }

  ended(trial: Trial, record: AttemptRecord, settled: boolean): void {
    this.#running.delete(trial.key)
    this.#attempts += 1
    this.#cost = sumDollars([this.#cost, record.cost_usd ?? 0])
    this.#tokens += record.tokens.input + record.tokens.output
    if (!settled) return
    this.#settled += 1
    this.#count(record.outcome)
  }

  paused(why: string | undefined): void {
    this.#paused = why
  }

  /**
   * The progress in one line: the number of settled trials and their outcomes, the number of running ones or the reason for a pause, the tokens, the
   * cost and, once a trial has been settled in this start, the pace and the remaining time.
   */
  line(): string {
    const running = [...this.#running.values()]
    const cost = sumDollars([this.#cost, ...running.map((each) => each.cost)])
    const tokens = running.reduce((sum, each) => sum + each.tokens, this.#tokens)
    const outcomes = [...this.#outcomes].map(([outcome, count]) => `${count} ${outcome}`)
    return [
      `${this.#settled} of ${this.#all} settled`,
      ...outcomes,
      ...(this.#paused === undefined ? [`${running.length} running`] : [`paused: ${this.#paused}`]),
      `${short(tokens)} tokens`,
      dollars(cost),
      ...this.#pace(),
    ].join(' · ')
  }

  /**
   * Returns a line for each run, which says what the run is doing. The runs are sorted by the time at which they started, earliest first.
   *
   * @param most the maximum number of runs to show; the others are only counted
   */
  rows(most: number): readonly string[] {
    const now = Date.now()
    const rows = [...this.#running.values()].toSorted((one, other) => one.since - other.since)
    const shown = rows.slice(0, most).map(({ trial, since, what, cost }) => {
      const spent = cost > 0 ? `, ${dollars(cost)}` : ''
      return `  ${trial.key}: ${what} (${seconds(now - since)}${spent})`
    })
    return rows.length > most ? [...shown, `  … and ${rows.length - most} more`] : shown
  }

  /** The progress as data, for other processes. */
  snapshot(): object {
    return {
      at: new Date().toISOString(),
      trials: this.#all,
      settled: this.#settled,
      outcomes: Object.fromEntries(this.#outcomes),
      running: [...this.#running.values()].map(({ trial, since, what, tokens, cost }) => ({
        trial: trial.key,
        what,
        seconds: Math.round((Date.now() - since) / 1000),
        tokens,
        cost_usd: cost,
      })),
      paused: this.#paused ?? null,
      cost_usd: this.#cost,
    }
  }

  #pace(): readonly string[] {
    const ended = this.#settled - this.#before
    const took = Date.now() - this.#began
    if (ended === 0) return []
    const perMinute = (ended / took) * 60_000
    const left = ((this.#all - this.#settled) / ended) * took
    return [`${perMinute.toFixed(1)} a minute`, ...(left > 0 ? [`about ${seconds(left)} left`] : [])]
  }

  #count(outcome: Outcome): void {
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
  }
}
