import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createGuardian, openAuditLog, type Guardian, type Reviewer } from '../../policies/index.ts'
import { concealedOf, protectingPlace } from '../../sandbox/index.ts'
import type { RunContext } from '../tools/run-context.ts'
import type { Contribution, Opened } from './feature.ts'
import { planReviewer } from './plan-reviewer.ts'

/** Creates the Guardian of a run, with its audit log in the session's folder. The log is opened at once. */
export function createRunGuardian(
  { session, policies, approvalMode, sandbox, review, choice, planMode, transaction }: Opened,
  contributions: readonly Contribution[],
): (runContext: RunContext) => Guardian {
  const audit = openAuditLog(join(session.directory, 'audit.jsonl'))
  // The real paths are included because a planned change is judged by the real path of the file that would change.
  const writableRoots = [...new Set(sandbox.policy.writableRoots.flatMap((root) => [root, realpathSync(root)]))]
  const approvesPlans = planReviewer(choice, review, approvalMode, planMode)
  const behind = (reviewer: Reviewer): Reviewer =>
    contributions.reduce((wrapped, { wrapReviewer }) => wrapReviewer?.(wrapped) ?? wrapped, reviewer)
  return (runContext) => {
    const guardian = createGuardian({
      rules: policies.rules,
      permissions: policies.permissions,
      approvalMode,
      reviewer: behind(review.reviewer(runContext)),
      planReviewer: behind(approvesPlans(runContext)),
      audit,
      onView: transaction !== undefined,
      writableRoots,
      conceals: (paths) => concealedOf(sandbox.policy, paths),
      ...(sandbox.hides === undefined ? {} : { hides: sandbox.hides }),
      protects: (path, roots) => protectingPlace(sandbox.policy, path, roots),
    })
    return contributions.reduce((wrapped, { wrapGuardian }) => wrapGuardian?.(wrapped) ?? wrapped, guardian)
  }
}
