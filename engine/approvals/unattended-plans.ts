import { nobody, type ApprovalMode, type Reviewer } from '../../policies/index.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode.ts'

/**
 * Answers for plans where nobody is there to read one. What the user wanted planned stays a plan, which the run then ends with. Where
 * planning first was the model's own wish, ending it gives back what the run might do anyway; but in the mode `untrusted`, in which the
 * user wants to see everything, that too is left to them.
 */
export function unattendedPlans(approvalMode: ApprovalMode, planMode: PlanMode): Reviewer {
  return {
    name: 'nobody',
    review: (request, options) => {
      const { action } = request
      if (action.type !== 'plan') return nobody.review(request, options)
      if (action.requestedBy === 'model' && approvalMode !== 'untrusted') {
        const reason = 'Planning first was your own wish, and nobody is here to read the plan.'
        return Promise.resolve({ outcome: 'allowed', reason })
      }
      planMode.conclude(action.plan)
      return nobody.review(request, options)
    },
  }
}
