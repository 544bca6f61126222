import { askUserAt } from '../../approvals/ask-user.ts'
import type { Feature } from '../feature.ts'

/** Tools that the user wrote or whoever opens the run brings, and the one that asks the person who is there. */
export const givenToolsFeature: Feature = {
  name: 'given tools',
  open: ({ request, review, userTools }) => ({
    tools: userTools,
    ownTools: [...(request.tools ?? []), ...(review.ask === undefined ? [] : [askUserAt(review.ask)])],
  }),
}
