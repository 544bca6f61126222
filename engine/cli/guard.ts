import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import {
  createGuardian,
  openAuditLog,
  type ApprovalMode,
  type Guardian,
  type PermissionSet,
  type Reviewer,
  type RuleSet,
} from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { PlanMode } from '../plan-mode/plan-mode.ts'
import { planningGuardian } from '../plan-mode/planning-guardian.ts'
import type { ReviewDesk } from '../reviewers/desk.ts'
import type { Session } from '../session/session.ts'

/** What the Guardian of a run decides by, and who answers where that leaves it open. */
type Guarding = {
  readonly session: Session
  readonly rules: RuleSet
  readonly permissions: PermissionSet
  readonly approvalMode: ApprovalMode
  readonly sandbox: Sandbox
  readonly reviewer: (desk: ReviewDesk) => Reviewer
  /** Whether the run plans, and who approves its plans. Absent: it acts. */
  readonly planning?: { readonly mode: PlanMode; readonly reviewer: (desk: ReviewDesk) => Reviewer }
}

/** Makes the Guardian of a run, with its audit log in the session's folder. The log is opened at once. */
export function guard({ session, reviewer, planning, sandbox, ...policy }: Guarding): (desk: ReviewDesk) => Guardian {
  const audit = openAuditLog(join(session.directory, 'audit.jsonl'))
  // Planned changes are judged by the real paths that they would change.
  const writableRoots = [...new Set(sandbox.policy.writableRoots.flatMap((root) => [root, realpathSync(root)]))]
  return (desk) => {
    const common = { ...policy, reviewer: reviewer(desk), audit, writableRoots }
    if (planning === undefined) return createGuardian(common)
    return planningGuardian(createGuardian({ ...common, planReviewer: planning.reviewer(desk) }), planning.mode)
  }
}
