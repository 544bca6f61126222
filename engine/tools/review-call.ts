import type { Guardian, ReviewOptions } from '../../policies/index.ts'

/**
 * Asks the Guardian about an action. The options that all questions of a call share are already set: the id of the action, the signal that
 * cancels the question, and the hook's decision.
 */
export type Review = Guardian['review']

/** The one place where the Guardian is asked. */
export function reviewBy(guardian: Pick<Guardian, 'review'>, common: ReviewOptions): Review {
  return (action, options) => guardian.review(action, { ...common, ...options })
}
