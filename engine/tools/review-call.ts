import type { Guardian, ReviewOptions } from '../../policies/index.ts'

/**
 * Asks the Guardian to review an action. The options that are the same for a whole call are already set, such as the call's id, the signal that
 * cancels the review, and the hook's decision.
 */
export type Review = Guardian['review']

/** Creates the function with which tools ask the Guardian for a review. Tools never call the Guardian's own `review`. */
export function reviewBy(guardian: Pick<Guardian, 'review'>, common: ReviewOptions): Review {
  return (action, options) => guardian.review(action, { ...common, ...options })
}
