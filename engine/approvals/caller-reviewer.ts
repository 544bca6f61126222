import type { Reviewer, ReviewerAnswer } from '../../policies/index.ts'

/** A caller who answers questions after seeing them in the event stream. */
export type CallerReviewer = {
  readonly reviewer: Reviewer
  /** Answers the question about a call; false where another question, or none, is open. */
  readonly answer: (callId: string | undefined, answer: ReviewerAnswer) => boolean
}

/** Makes a reviewer from the caller that opened the run. Ask one question at a time. */
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
        const giveUp = (): void => reject(new Error('the question was given up'))
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
