import { createGuardian, nobody, withoutAuditLog, type Guardian, type GuardianOptions } from '../../policies/index.ts'

/**
 * Returns a function that gives the Guardian's answer according to these rules only. It asks no reviewer and records nothing, so use it to query actions, never
 * to approve them. Create it once and call it often.
 */
export function assessor(by: Pick<GuardianOptions, 'approvalMode' | 'rules' | 'permissions'>): Guardian['assess'] {
  return createGuardian({ ...by, reviewer: nobody, audit: withoutAuditLog() }).assess
}
