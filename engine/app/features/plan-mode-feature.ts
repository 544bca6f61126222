import { planningGuardian } from '../../tools/plan-mode/planning-guardian.ts'
import { planModeTools } from '../../approvals/plan-mode-tools.ts'
import type { Feature } from '../feature.ts'

/** Lets the run plan first. The run changes nothing until the plan is approved. */
export const planModeFeature: Feature = {
  name: 'plan mode',
  open: ({ planMode, agents }) => ({
    ownTools: planModeTools(planMode, agents),
    wrapGuardian: (guardian) => planningGuardian(guardian, planMode),
  }),
}
