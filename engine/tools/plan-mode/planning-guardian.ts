import type { Guardian } from '../../../policies/index.ts'
import type { PlanMode } from './plan-mode-state.ts'

/**
 * Wraps a Guardian so that in plan mode it denies every action except reading, searching the web and presenting a plan, before anybody is asked and
 * regardless of rules, hooks and reviewers. Each denial is recorded in the audit log like any other.
 */
export function planningGuardian(inner: Guardian, mode: PlanMode): Guardian {
  return {
    ...inner,
    assess: (action) => {
      const reason = mode.refusal(action)
      const assessment = inner.assess(action)
      return reason === undefined ? assessment : { ...assessment, decision: 'deny', stage: planModeStage, reason }
    },
    review: (action, options) => {
      const refuse = mode.refusal(action)
      return inner.review(action, refuse === undefined ? options : { ...options, refuse, refusedBy: planModeStage })
    },
  }
}

/** The stage that a verdict names if plan mode denied the action. */
export const planModeStage = 'plan-mode'
