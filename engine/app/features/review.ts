import { UserError } from '../../core/user-error.ts'
import type { Feature } from '../feature.ts'

/** The change that the run is to review is its prompt. */
export const reviewFeature: Feature = {
  name: 'review',
  open: ({ codeReview, sandbox, workspace, signal }) => {
    // Whatever the configuration came to.
    if (sandbox.policy.mode !== 'read-only')
      throw new UserError('sandboxUnavailable', 'A review wants a read-only sandbox, and this one can be written in.')
    return { expandPrompt: async (words) => (await codeReview?.open(words, sandbox, workspace, signal)) ?? words }
  },
}
