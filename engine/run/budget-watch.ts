import { setLongTimeout, type LongTimeout } from '../../sandbox/index.ts'
import type { UsageSoFar } from '../core/events.ts'
import type { Usage } from '../core/model.ts'
import { costOf, type ModelFacts } from '../models/index.ts'
import { addMicros, dollarsOf, microsOf, nothing, takeMicros, type Micros } from '../core/money.ts'
import { noUsage } from '../core/usage.ts'
import { worstCase, type Admission, type WorstCase } from './admission.ts'
import type { Budget } from '../core/budget-limits.ts'
import { counted } from '../core/text/counted.ts'

/** Returns what a budget needs to know about the model with this name. */
export type BudgetFacts = (model: string) => Pick<ModelFacts, 'price' | 'longestOutput' | 'takenFrom'>

/**
 * Watches a run's budget. Each request is checked before it is made, so that none can exceed a limit. When the time is up, everything that is running
 * is interrupted as well.
 */
export class BudgetWatch {
  readonly #budget: Budget
  readonly #factsOf: BudgetFacts
  readonly #told: (spent: UsageSoFar) => void
  readonly #timer: LongTimeout | undefined
  readonly #controller = new AbortController()
  readonly #setAside = new Set<WorstCase>()
  #turns = 0
  #tokens = 0
  #cost: Micros | undefined = nothing
  readonly #maxCost: Micros | undefined
  #uncounted = false

  /** @param told receives the usage each time it changes, so that no usage is lost if the process is killed */
  constructor(budget: Budget, factsOf: BudgetFacts, told: (spent: UsageSoFar) => void) {
    this.#budget = budget
    this.#maxCost = budget.maxCost === undefined ? undefined : microsOf(budget.maxCost)
    this.#factsOf = factsOf
    this.#told = told
    if (budget.timeoutMs === undefined) return
    this.#timer = setLongTimeout(() => this.#controller.abort('budget'), budget.timeoutMs)
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The cost so far, in US dollars; undefined if a price or a token count is unknown. */
  get cost(): number | undefined {
    return this.#cost === undefined ? undefined : dollarsOf(this.#cost)
  }

  /** The usage so far, and the limits of the budget. */
  get spent(): UsageSoFar {
    return { turns: this.#turns, tokens: this.#tokens, costUsd: this.cost, of: this.#budget }
  }

  /** Whether each request must be admitted, because the tokens or the cost of the run are limited. */
  get needsAdmission(): boolean {
    return this.#budget.maxTokens !== undefined || this.#budget.maxCost !== undefined
  }

  /**
   * Decides whether a request may be made. If so, reserves the most that the request could use.
   *
   * @param input an upper bound on the number of tokens in the request
   */
  admit(input: number, model: string): Admission {
    const exhausted = this.exhausted()
    if (exhausted !== undefined) return { admitted: false, message: exhausted }
    const { maxTokens, maxCost } = this.#budget
    const facts = this.#factsOf(model)
    if (maxCost !== undefined && facts.price === undefined) {
      return {
        admitted: false,
        message: `--max-cost ${maxCost} can't be enforced: the price of '${model}' is not known.`,
      }
    }
    const waiting = [...this.#setAside]
    const left = {
      tokens: maxTokens && maxTokens - this.#tokens - waiting.reduce((sum, one) => sum + one.input + one.output, 0),
      cost: this.#maxCost && takeMicros(this.#maxCost, this.#cost ?? nothing, ...waiting.map(({ cost }) => cost)),
    }
    const { fits, use, limit, isLowered } = worstCase(input, facts, left)
    if (!fits) return { admitted: false, message: this.#tooMuch(use, left.tokens) }
    this.#setAside.add(use)
    return { admitted: true, limit, isLowered, release: () => void this.#setAside.delete(use) }
  }

  /**
   * Counts a response.
   *
   * @param model the name of the model that answered
   * @returns its cost in US dollars, if that is known
   */
  spend(usage: Usage, model: string): number | undefined {
    this.#turns++
    return this.spendBeside(usage, model)
  }

  /** Counts usage that belongs to no response, such as that of a failed attempt, a summary or a review. */
  spendBeside(usage: Usage, model: string): number | undefined {
    const sent = usage.inputTokens + usage.outputTokens
    this.#tokens += sent
    const { price } = this.#factsOf(model)
    const counted = sent > 0 || usage === noUsage || price?.output === 0
    if (!counted) this.#uncounted = true
    const cost = price === undefined || !counted ? undefined : costOf(usage, price)
    this.#cost = cost === undefined || this.#cost === undefined ? undefined : addMicros(this.#cost, cost)
    this.#told(this.spent)
    return cost === undefined ? undefined : dollarsOf(cost)
  }

  /** Returns why no more requests may be made, as a sentence that names the limit; undefined if the budget allows more. */
  exhausted(): string | undefined {
    const { maxTurns, maxTokens, maxCost, timeoutMs } = this.#budget
    if (maxTurns !== undefined && this.#turns >= maxTurns) {
      return `The budget is used up: ${counted(this.#turns, 'turn')} (--max-turns ${maxTurns}).`
    }
    if (this.signal.aborted) return `The budget is used up: the run took ${(timeoutMs ?? 0) / 1000} s (--timeout).`
    if (maxTokens !== undefined) {
      if (this.#uncounted) return `--max-tokens ${maxTokens} can't be enforced: ${notCounted}`
      if (this.#tokens >= maxTokens) {
        return `The budget is used up: ${this.#tokens} tokens (--max-tokens ${maxTokens}).`
      }
    }
    if (this.#maxCost === undefined) return undefined
    if (this.#cost === undefined) {
      return `--max-cost ${maxCost} can't be enforced: ${this.#uncounted ? notCounted : 'the price of a model that answered is not known.'}`
    }
    if (this.#cost < this.#maxCost) return undefined
    return `The budget is used up: ${dollars(dollarsOf(this.#cost))} (--max-cost ${maxCost}).`
  }

  #tooMuch({ input, output, cost }: WorstCase, tokensLeft: number | undefined): string {
    const { maxTokens, maxCost } = this.#budget
    const of = `${input} tokens sent, and up to ${output} in the answer`
    return tokensLeft !== undefined && input + output > tokensLeft
      ? `The budget is too small for the next request: ${this.#tokens} tokens have been used (--max-tokens ${maxTokens}), and the request could use ${input + output} (${of}).`
      : `The budget is too small for the next request: ${dollars(this.cost ?? 0)} has been spent (--max-cost ${maxCost}), and the request could cost ${dollars(dollarsOf(cost))} (${of}).`
  }

  /** Stops the timer, so that it does not outlive the run. */
  close(): void {
    this.#timer?.cancel()
  }
}

const notCounted = 'the provider does not report the number of tokens used.'

/** Formats an amount in US dollars for a person. Amounts below one dollar have at most four significant digits. */
function dollars(amount: number): string {
  return `$${amount >= 1 ? amount.toFixed(2) : Number(amount.toPrecision(4))}`
}
