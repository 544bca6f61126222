import type { Reviewer, ReviewerAnswer, ReviewRequest } from '../../policies/index.ts'

/**
 * Answers the Guardian with `allow`, `deny`, or an outcome with a reason, which the model receives. Any other value, or an exception, counts as a denial. The
 * signal is aborted if the run ends before there is an answer.
 */
export type ReviewFunction = (
  request: ReviewRequest,
  options: { readonly signal?: AbortSignal },
) => FunctionAnswer | Promise<FunctionAnswer>

type FunctionAnswer = 'allow' | 'deny' | ReviewerAnswer

/** Turns the caller's function into a reviewer. */
export function functionReviewer(review: ReviewFunction): Reviewer {
  return {
    name: 'function',
    review: async (request, options) => answerOf(await review(request, options)),
  }
}

/** Converts the answer of the caller's function, and checks it, because the function may be untyped JavaScript. */
function answerOf(given: unknown): ReviewerAnswer {
  if (given === 'allow') return { outcome: 'allowed', reason: 'The reviewer allowed it.' }
  if (given === 'deny') return { outcome: 'denied', reason: 'The reviewer denied it.' }
  if (isAnswer(given)) return given
  return {
    outcome: 'malformed',
    reason: `The reviewer returned ${describe(given)}; expected 'allow', 'deny', or an outcome with a reason.`,
  }
}

function isAnswer(given: unknown): given is ReviewerAnswer {
  return (
    typeof given === 'object' &&
    given !== null &&
    'outcome' in given &&
    typeof given.outcome === 'string' &&
    'reason' in given &&
    typeof given.reason === 'string'
  )
}

function describe(given: unknown): string {
  return typeof given === 'string' ? `'${given.slice(0, 40)}'` : typeof given
}
