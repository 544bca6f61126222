import { createGuardian, nobody, withoutAuditLog, type Guardian, type GuardianOptions } from '../../policies/index.ts'

/**
 * The Guardian's answer by these rules alone. Nobody is asked and nothing is recorded: use it to ask about actions, never to approve them.
 * Made once and called often.
 */
export function assessor(by: Pick<GuardianOptions, 'approvalMode' | 'rules' | 'permissions'>): Guardian['assess'] {
  return createGuardian({ ...by, reviewer: nobody, audit: withoutAuditLog() }).assess
}
