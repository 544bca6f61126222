import { createGuardian, nobody, withoutAuditLog, type Guardian, type GuardianOptions } from '../../policies/index.ts'

/**
 * Returns a function that tells how the Guardian would decide on an action if only the given mode, rules and permissions counted. It asks no reviewer
 * and records nothing, so use it to query decisions, never to approve actions. Create it once and call it often.
 */
export function assessor(by: Pick<GuardianOptions, 'approvalMode' | 'rules' | 'permissions'>): Guardian['assess'] {
  return createGuardian({ ...by, reviewer: nobody, audit: withoutAuditLog() }).assess
}
