import type { Guardian } from '../../policies/index.ts'
import type { PlanMode } from './plan-mode.ts'

/**
 * A Guardian that refuses in plan mode whatever is more than reading, before anybody is asked and whatever rules, hooks and
 * reviewers would say. Each refusal is in the audit log as any other.
 */
export function planningGuardian(guardian: Guardian, mode: PlanMode): Guardian {
  return {
    ...guardian,
    assess: (action) => {
      const reason = mode.refusal(action)
      const assessment = guardian.assess(action)
      return reason === undefined ? assessment : { ...assessment, decision: 'deny', stage: planModeStage, reason }
    },
    review: (action, options) => {
      const refuse = mode.refusal(action)
      return guardian.review(action, refuse === undefined ? options : { ...options, refuse, refusedBy: planModeStage })
    },
  }
}

/** What decides, as verdicts name it. */
export const planModeStage = 'plan-mode'
