import { UserError } from '../../core/user-error.ts'
import type { Feature } from '../feature.ts'

/** The prompt of a review is the change to review. */
export const reviewFeature: Feature = {
  name: 'review',
  open: ({ codeReview, sandbox, workspace, signal }) => {
    // Checked whatever the configuration says.
    if (sandbox.policy.mode !== 'read-only')
      throw new UserError('sandboxUnavailable', 'A review needs a read-only sandbox, but this one is writable.')
    return { expandPrompt: async (words) => (await codeReview?.open(words, sandbox, workspace, signal)) ?? words }
  },
}
