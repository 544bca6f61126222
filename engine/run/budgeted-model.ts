import { ModelError, wrapModel, type HistoryItem, type Model, type ModelRequest } from '../core/model.ts'
import type { BudgetWatch } from './budget-watch.ts'
import { mostTokens, mostTokensOfText } from './estimate-tokens.ts'

/**
 * Wraps a model so that its requests stay within the budget: a request is only made if the budget covers the most that it could use, and its answer is limited
 * to what remains. The size of a request is calculated from the provider's counts of earlier requests, if there are any.
 *
 * @returns a model that throws `ModelError` `budget` for a request that could use more than what remains, and for an answer that was cut off to stay
 *   within the budget
 */
export function budgetedModel(model: Model, budget: BudgetWatch): Model {
  let counted: Counted | undefined
  return wrapModel(model, async function* (request, signal) {
    if (!budget.needsAdmission) return yield* model.respond(request, signal)
    const tokens = tokensOf(request, counted)
    for (;;) {
      const asked = model.name
      const admission = budget.admit(tokens, asked)
      if (!admission.admitted) throw new ModelError('budget', admission.message)
      const { limit, isLowered, release } = admission
      const cutOff = `The budget is used up: the answer was cut off after the ${limit} tokens that were left.`
      const answer = model.respond(heldTo(limit, request), signal)
      let goesElsewhere = false
      try {
        for await (const event of answer) {
          if (event.type === 'cut' && isLowered) throw new ModelError('budget', cutOff, { spent: event.spent })
          if (event.type === 'end') {
            const { inputTokens, outputTokens } = event.usage
            const said = inputTokens + outputTokens
            if (said > 0) counted = { tokens: said, length: request.history.length, last: request.history.at(-1) }
          }
          yield event
          if (event.type === 'end') return
          if (event.type !== 'retry' && event.type !== 'cut') continue
          // The budget is checked again, because the tokens of the failed attempt have been counted by now, and a different model may have a different price.
          goesElsewhere = model.name !== asked
          if (goesElsewhere) break
          release()
          const again = budget.admit(tokens, asked)
          if (again.admitted) again.release()
          if (!again.admitted || (again.limit ?? Infinity) < (limit ?? Infinity)) {
            throw new ModelError('budget', again.admitted ? cutOff : again.message)
          }
        }
      } finally {
        release()
      }
      if (!goesElsewhere) return
    }
  })
}

/** Returns the request with its answer limited to `limit` tokens, or to the request's own limit if that is lower. */
function heldTo(limit: number | undefined, request: ModelRequest): ModelRequest {
  if (limit === undefined) return request
  const { maxOutputTokens = limit, ...sampling } = request.sampling ?? {}
  return { ...request, sampling: { ...sampling, maxOutputTokens: Math.min(limit, maxOutputTokens) } }
}

/** The provider's token count of a request and its answer together. */
type Counted = {
  readonly tokens: number
  /** The number of items in the request, and its last item. They show whether a later request repeats these items and adds to them. */
  readonly length: number
  readonly last: HistoryItem | undefined
}

/** Returns an upper bound on the number of tokens in a request. */
function tokensOf({ instructions, tools, history }: ModelRequest, counted: Counted | undefined): number {
  if (counted !== undefined && counted.length > 0 && history[counted.length - 1] === counted.last) {
    const isOfAnswer = (item: HistoryItem): boolean =>
      ['reasoning', 'tool_call', 'web_search'].includes(item.type) || ('role' in item && item.role === 'assistant')
    const since = history.slice(counted.length)
    const answered = since.findIndex((item) => !isOfAnswer(item))
    return counted.tokens + sum(answered === -1 ? [] : since.slice(answered))
  }
  return mostTokensOfText(instructions) + mostTokensOfText(JSON.stringify(tools)) + sum(history)
}

function sum(items: readonly HistoryItem[]): number {
  return items.reduce((total, item) => total + mostTokens(item), 0)
}
