import { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { ReadRollout, Rollout } from '../session/rollout.ts'

/**
 * Decides whether a run plans first: as the request says, or else as in the last run of the resumed session. Whenever plan mode begins or ends, that
 * is stored in the session.
 *
 * @param asked true for `--plan`; false for `--no-plan`, with which the user approves the plan; undefined if neither is given
 * @param resumedFrom the session that the run continues
 */
export function openPlanMode(
  asked: boolean | undefined,
  resumedFrom: Pick<ReadRollout, 'planRequestedBy'> | undefined,
  rollout: Rollout,
): PlanMode {
  const before = resumedFrom?.planRequestedBy
  return new PlanMode({
    requestedBy: asked === true ? 'user' : asked === false ? undefined : before,
    lifted: asked === false && before !== undefined,
    note: (requestedBy) => rollout.append({ type: 'plan_mode', requested_by: requestedBy ?? null }),
  })
}
