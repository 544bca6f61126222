import { UserError } from '../../core/user-error.ts'
import type { Feature } from '../feature.ts'

/** Uses the change under review as the prompt of the run. */
export const reviewFeature: Feature = {
  name: 'review',
  open: ({ codeReview, sandbox, workspace, signal }) => {
    // This feature makes sure that the sandbox is read-only, because no configuration may make the sandbox of a review writable.
    if (sandbox.policy.mode !== 'read-only')
      throw new UserError('sandboxUnavailable', 'A review needs a read-only sandbox, but this one is writable.')
    return { expandPrompt: async (words) => (await codeReview?.open(words, sandbox, workspace, signal)) ?? words }
  },
}
