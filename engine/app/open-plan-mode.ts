import { PlanMode } from '../tools/plan-mode/plan-mode.ts'
import type { ReadRollout, Rollout } from '../session/rollout.ts'

/**
 * Whether a run plans: as its command line says, else as the session was left. Every change is kept in the session.
 *
 * @param asked `--plan`, `--no-plan` (the user's leave to carry out the plan), or undefined
 * @param earlier the session that is gone on with
 */
export function openPlanMode(
  asked: boolean | undefined,
  earlier: Pick<ReadRollout, 'planWishedBy'> | undefined,
  rollout: Rollout,
): PlanMode {
  const before = earlier?.planWishedBy
  return new PlanMode({
    wishedBy: asked === true ? 'user' : asked === false ? undefined : before,
    lifted: asked === false && before !== undefined,
    note: (wishedBy) => rollout.append({ type: 'plan_mode', wished_by: wishedBy ?? null }),
  })
}
