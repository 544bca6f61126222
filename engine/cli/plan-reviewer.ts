import type { ApprovalMode, Reviewer } from '../../policies/index.ts'
import type { PlanMode } from '../plan-mode/plan-mode.ts'
import type { ReviewDesk } from '../reviewers/desk.ts'
import { unattendedPlans } from '../reviewers/plan.ts'
import type { ExecOptions } from './exec-options.ts'
import { isPersonThere, type ReviewerChoice } from './choose-reviewer.ts'
import { personAtTerminal, type OpenReviewer } from './open-reviewer.ts'
import type { Places } from '../places.ts'

type Choosing = {
  readonly options: ExecOptions
  readonly choice: ReviewerChoice
  readonly review: OpenReviewer
  readonly approvalMode: ApprovalMode
  readonly places: Places
}

/**
 * Who approves plans: the person at the terminal, whatever they want to be asked about otherwise; else the program that answers for
 * them. A reviewing model judges actions; it is no substitute for the user who wanted to read the plan.
 */
export function planReviewer(
  { options, choice, review, approvalMode, places }: Choosing,
  planMode: PlanMode,
): (desk: ReviewDesk) => Reviewer {
  switch (choice.kind) {
    case 'person':
    case 'program':
    case 'url':
      return review.reviewer
    case 'model':
    case 'nobody':
      if (isPersonThere(options)) return personAtTerminal(places)
      return () => unattendedPlans(approvalMode, planMode)
    default:
      return choice satisfies never
  }
}
