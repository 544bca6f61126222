import type { Spent } from '../events.ts'
import type { Usage } from '../model.ts'
import { costOf, type Price } from '../models/index.ts'
import { sumCost } from '../usage.ts'
import type { Budget } from './limits.ts'

/**
 * Watches a run's budget. It is asked before each request, so that no request is made that is known to be one too many; the
 * time limit also cuts short whatever is going on.
 */
export class BudgetWatch {
  readonly #budget: Budget
  readonly #priceOf: (model: string) => Price | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #controller = new AbortController()
  #turns = 0
  #tokens = 0
  #cost: number | undefined = 0
  #floor = 0

  /** @param priceOf what a model costs, by its name; undefined where nobody has said */
  constructor(budget: Budget, priceOf: (model: string) => Price | undefined) {
    this.#budget = budget
    this.#priceOf = priceOf
    if (budget.timeoutMs === undefined) return
    this.#timer = setTimeout(() => this.#controller.abort('budget'), budget.timeoutMs)
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What all responses cost so far, in US dollars; undefined where a price or a count of tokens is not known. */
  get cost(): number | undefined {
    return this.#cost
  }

  /** What is used so far, and of how much. */
  get spent(): Spent {
    return { turns: this.#turns, tokens: this.#tokens, costUsd: this.#cost, of: this.#budget }
  }

  /**
   * Counts a response.
   *
   * @param model the name of the one that answered
   * @returns what it cost in US dollars, where that is known
   */
  spend(usage: Usage, model: string): number | undefined {
    this.#turns++
    return this.spendInVain(usage, model)
  }

  /** Counts what a failed attempt cost, which is no response. */
  spendInVain(usage: Usage, model: string): number | undefined {
    const price = this.#priceOf(model)
    // The next request sends all of this again; that its cache is hit is the least it can cost.
    this.#floor = price === undefined ? 0 : ((usage.inputTokens + usage.outputTokens) * price.cachedInput) / 1_000_000
    return this.spendBeside(usage, model)
  }

  /** Counts what was asked beside the conversation, such as a review: nothing of it is sent again. */
  spendBeside(usage: Usage, model: string): number | undefined {
    const sent = usage.inputTokens + usage.outputTokens
    this.#tokens += sent
    const price = this.#priceOf(model)
    const counted = sent > 0 || price?.output === 0
    const cost = price === undefined || !counted ? undefined : costOf(usage, price)
    this.#cost = sumCost(this.#cost, cost)
    return cost
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
    return this.#tooDear()
  }

  #tooDear(): string | undefined {
    const { maxCost } = this.#budget
    if (maxCost === undefined) return undefined
    if (this.#cost === undefined) {
      return `--max-cost ${maxCost} can't be kept: the provider does not say how many tokens were used.`
    }
    if (this.#cost >= maxCost) return `The budget is used up: ${dollars(this.#cost)} of --max-cost ${maxCost}.`
    if (this.#cost + this.#floor < maxCost) return undefined
    const least = dollars(this.#floor)
    return `The budget is used up: ${dollars(this.#cost)} of --max-cost ${maxCost}, and the next request would cost ${least} at least.`
  }

  /** Stops the clock, so that it does not outlive the run. */
  close(): void {
    clearTimeout(this.#timer)
  }
}

/** An amount for a person, to four significant digits where it is small. */
function dollars(amount: number): string {
  return `$${amount >= 1 ? amount.toFixed(2) : Number(amount.toPrecision(4))}`
}
