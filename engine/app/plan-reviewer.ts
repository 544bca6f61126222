import type { ApprovalMode, Reviewer } from '../../policies/index.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { RunContext } from '../tools/run-context.ts'
import { unattendedPlans } from '../approvals/unattended-plans.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'
import type { OpenReviewer } from './open-reviewer.ts'

/**
 * Determines who approves plans: the configured reviewer, unless that is a model. A reviewing model only judges actions and can't replace the user,
 * who asked to see the plan. With such a reviewer, or with none, the person at the terminal approves plans, if there is one.
 */
export function planReviewer(
  choice: ReviewerChoice,
  review: OpenReviewer,
  approvalMode: ApprovalMode,
  planMode: PlanMode,
): (runContext: RunContext) => Reviewer {
  switch (choice.kind) {
    case 'person':
    case 'program':
    case 'url':
    case 'caller':
    case 'function':
      return review.reviewer
    case 'model':
    case 'nobody':
      return review.person ?? (() => unattendedPlans(approvalMode, planMode))
    default:
      return choice satisfies never
  }
}
