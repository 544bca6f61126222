import { nobody, type ApprovalMode, type Reviewer } from '../../policies/index.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'

/**
 * Creates a reviewer for plans in runs in which nobody is there to read them. If the user asked for a plan, the plan is the result and the run ends
 * with it. If the model chose to plan, the plan is approved, because that only restores what the run was allowed to do before. In the `untrusted`
 * approval mode, however, the user wants to see everything, so the run ends with the plan in this case too.
 */
export function unattendedPlans(approvalMode: ApprovalMode, planMode: PlanMode): Reviewer {
  return {
    name: 'nobody',
    review: (request, options) => {
      const { action } = request
      if (action.type !== 'plan') return nobody.review(request, options)
      if (action.requestedBy === 'model' && approvalMode !== 'untrusted') {
        const reason = 'You chose to plan first, and nobody is here to read the plan.'
        return Promise.resolve({ outcome: 'allowed', reason })
      }
      planMode.conclude(action.plan)
      return nobody.review(request, options)
    },
  }
}
