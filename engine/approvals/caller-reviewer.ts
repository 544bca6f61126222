import type { Reviewer, ReviewerAnswer } from '../../policies/index.ts'

/** A reviewer that passes its questions on to the run's caller, who sees them in the event stream and answers them. */
export type CallerReviewer = {
  readonly reviewer: Reviewer
  /** Answers the open question about a call. Returns false if there is no open question about that call. */
  readonly answer: (callId: string | undefined, answer: ReviewerAnswer) => boolean
}

/** Creates a reviewer whose questions the run's caller answers. It can be asked only one question at a time. */
export function callerReviewer(): CallerReviewer {
  let asked: { readonly subject: string | undefined; readonly take: (answer: ReviewerAnswer) => void } | undefined
  return {
    answer: (callId, answer) => {
      if (asked === undefined || asked.subject !== callId) return false
      asked.take(answer)
      return true
    },
    reviewer: {
      name: 'caller',
      review: async ({ subject }, { signal }) => {
        const { promise, resolve, reject } = Promise.withResolvers<ReviewerAnswer>()
        const giveUp = (): void => reject(new Error('the question was withdrawn because the run was stopped'))
        signal?.throwIfAborted()
        signal?.addEventListener('abort', giveUp, { once: true })
        asked = { subject, take: resolve }
        try {
          return await promise
        } finally {
          asked = undefined
          signal?.removeEventListener('abort', giveUp)
        }
      },
    },
  }
}
