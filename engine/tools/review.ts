import type { Guardian, ReviewOptions } from '../../policies/index.ts'

/**
 * Asks the Guardian about an action. Of the options, those that are the same for all that a call asks are set already: what the action is
 * known by, what gives the question up, and what a hook said.
 */
export type Review = Guardian['review']

/** The one place where the Guardian is asked. */
export function reviewBy(guardian: Pick<Guardian, 'review'>, common: ReviewOptions): Review {
  return (action, options) => guardian.review(action, { ...common, ...options })
}
