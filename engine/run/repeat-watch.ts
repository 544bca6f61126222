import type { ToolCall } from '../core/model.ts'

const noticedAfter = 3
const endedAfter = 6
/** How many answers in a row may reach their length limit in the middle of a call. */
const mostCuts = 4

/**
 * Notices a model that keeps making the same call with the same result, or whose answers keep being cut off in the middle of a call. A model that
 * repeats a call is warned before its run ends.
 */
export class RepeatWatch {
  #last: string | undefined
  #times = 0
  #tool = ''
  #cuts = 0

  /**
   * Records a call and its result. This must be called for every call, in the order in which the model reads the results.
   *
   * @returns a warning for the model; undefined if the model isn't repeating itself
   */
  see(call: ToolCall, output: string): string | undefined {
    this.#cuts = call.cut === true ? this.#cuts + 1 : 0
    if (stillRunning.test(output)) return this.#forget()
    const signature = JSON.stringify([call.name, call.input, withoutVarying(output)])
    this.#times = signature === this.#last ? this.#times + 1 : 1
    this.#last = signature
    this.#tool = call.name
    if (this.#times < noticedAfter) return undefined
    return (
      `[You have made this same call ${this.#times} times in a row, with the same result each time. ` +
      `Do something else. If you make it ${endedAfter} times in a row with the same result, the run ends.]`
    )
  }

  #forget(): undefined {
    this.#last = undefined
    this.#times = 0
  }

  /** Returns why the run must end; undefined if it need not. */
  exhausted(): string | undefined {
    if (this.#cuts > mostCuts)
      return `The model's answer was cut off in the middle of a call ${this.#cuts} times in a row.`
    if (this.#times < endedAfter) return undefined
    return `The same call to ${this.#tool} was made ${this.#times} times in a row with the same result: the model is stuck in a loop.`
  }
}

/** Matches the result of a call that only found its command still running. Repeating such a call is not a loop. */
const stillRunning = /^Process running with session ID /m

/** A result without the parts that differ even if nothing has changed: durations, and the file name of a stored output. */
function withoutVarying(output: string): string {
  return output.replace(/\b\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|seconds?)\b/g, '').replace(/\boutput-\d+\.txt\b/g, '')
}
