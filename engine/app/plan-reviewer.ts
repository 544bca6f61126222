import type { ApprovalMode, Reviewer } from '../../policies/index.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { RunContext } from '../tools/run-context.ts'
import { unattendedPlans } from '../approvals/unattended-plans.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'
import type { OpenReviewer } from './open-reviewer.ts'

/**
 * Determines who approves plans: the person at the terminal, even if another reviewer handles other questions; else the program that answers in the person's
 * place. A reviewing model only judges actions. It can't replace the user, who asked to see the plan.
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
