import { planningGuardian } from '../../tools/plan-mode/planning-guardian.ts'
import { planModeTools } from '../../approvals/plan-mode-tools.ts'
import type { Feature } from '../feature.ts'

/** Lets the model write a plan first. Until the plan is approved, the run changes nothing. */
export const planModeFeature: Feature = {
  name: 'plan mode',
  open: ({ planMode, agents }) => ({
    ownTools: planModeTools(planMode, agents),
    wrapGuardian: (guardian) => planningGuardian(guardian, planMode),
  }),
}
