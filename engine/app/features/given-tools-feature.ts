import { askUserAt } from '../../approvals/ask-user.ts'
import type { Feature } from '../feature.ts'

/** Provides the tools that the user wrote or the caller passed, and the tool that asks the person at the terminal. */
export const givenToolsFeature: Feature = {
  name: 'given tools',
  open: ({ request, review, userTools }) => ({
    tools: userTools,
    ownTools: [...(request.tools ?? []), ...(review.ask === undefined ? [] : [askUserAt(review.ask)])],
  }),
}
