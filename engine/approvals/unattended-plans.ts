import { nobody, type ApprovalMode, type Reviewer } from '../../policies/index.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'

/**
 * Answers for plans where nobody can read one. If the user asked for a plan, the plan is the result and the run ends with it. If the model
 * chose to plan, ending that only restores what the run might do anyway; but in the mode `untrusted`, in which the user wants to see
 * everything, that too is left to the user.
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
