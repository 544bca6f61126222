import type { Usage } from '../model.ts'

/** What a run may use. An absent limit does not limit. */
export type Budget = {
  /** Responses of the model. */
  readonly maxTurns?: number | undefined
  /** Input and output tokens of all responses together, as the provider counts them. */
  readonly maxTokens?: number | undefined
  /** Wall time of the whole run in milliseconds. */
  readonly timeoutMs?: number | undefined
}

/**
 * Watches a run's budget. It is asked before each request, so that no request is made that is known to be one too many; the
 * time limit also cuts short whatever is going on.
 */
export class BudgetWatch {
  readonly #budget: Budget
  readonly #timer: NodeJS.Timeout | undefined
  readonly #controller = new AbortController()
  #turns = 0
  #tokens = 0

  constructor(budget: Budget) {
    this.#budget = budget
    if (budget.timeoutMs === undefined) return
    this.#timer = setTimeout(() => this.#controller.abort('budget'), budget.timeoutMs)
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Counts a response. */
  spend(usage: Usage): void {
    this.#turns++
    this.addTokens(usage)
  }

  /** Counts what a failed attempt cost, which is no response. */
  addTokens(usage: Usage): void {
    this.#tokens += usage.inputTokens + usage.outputTokens
  }

  /** Which limit is reached, with what to do about it; undefined while there is room. */
  exhausted(): string | undefined {
    const { maxTurns, maxTokens, timeoutMs } = this.#budget
    if (maxTurns !== undefined && this.#turns >= maxTurns) {
      return `The budget is used up: ${this.#turns} of --max-turns ${maxTurns}.`
    }
    if (maxTokens !== undefined && this.#tokens >= maxTokens) {
      return `The budget is used up: ${this.#tokens} tokens of --max-tokens ${maxTokens}.`
    }
    if (this.signal.aborted) return `The budget is used up: --timeout ${(timeoutMs ?? 0) / 1000} seconds.`
    return undefined
  }

  /** Stops the clock, so that it does not outlive the run. */
  close(): void {
    clearTimeout(this.#timer)
  }
}
