import type { Reviewer, ReviewerAnswer } from '../reviewer.ts'

/** The limits on denied requests in a run. */
export type BreakerLimits = {
  /** How many denials in a row, with no action in between that was allowed, end the run. Default: 3. */
  readonly consecutive?: number
  /** How many denials among the last `window` reviews end the run. Default: 10 denials among 50 reviews. */
  readonly most?: number
  readonly window?: number
}

/**
 * Returns a reviewer that ends a run if the run keeps requesting what is denied: a denial that reaches one of the limits becomes an abort. Only
 * judgements count. An unreachable reviewer is no evidence for or against the run.
 *
 * @example const guardian = createGuardian({ approvalMode: 'untrusted', reviewer: withBreaker(nobody, { consecutive: 2 }), audit: withoutAuditLog() })
 */
export function withBreaker(reviewer: Reviewer, limits: BreakerLimits = {}): Reviewer {
  const { consecutive = 3, most = 10, window = 50 } = limits
  let inRow = 0
  let recent: readonly ReviewerAnswer['outcome'][] = []
  return {
    name: reviewer.name,
    review: async (request, options) => {
      const answer = await reviewer.review(request, options)
      if (answer.outcome !== 'allowed' && answer.outcome !== 'denied') return answer
      if ((options.allowedBefore ?? 0) > 0) inRow = 0
      recent = [...recent, answer.outcome].slice(-window)
      inRow = answer.outcome === 'denied' ? inRow + 1 : 0
      const denied = recent.filter((outcome) => outcome === 'denied').length
      if (inRow >= consecutive) return stop(answer, `${inRow} requests in a row were refused`)
      return denied >= most ? stop(answer, `${denied} of the last ${recent.length} requests were refused`) : answer
    },
  }
}

function stop(answer: ReviewerAnswer, why: string): ReviewerAnswer {
  if (answer.outcome === 'allowed') return answer
  return { ...answer, outcome: 'aborted', reason: `${answer.reason} The run is stopped: ${why}.` }
}
