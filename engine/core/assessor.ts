import { createGuardian, nobody, withoutAuditLog, type Guardian, type GuardianOptions } from '../../policies/index.ts'

/**
 * What a Guardian would say by these rules alone. Nobody is asked and nothing is recorded: for questions about actions, never for
 * leave to do them. Made once and asked often.
 */
export function assessor(by: Pick<GuardianOptions, 'approvalMode' | 'rules' | 'permissions'>): Guardian['assess'] {
  return createGuardian({ ...by, reviewer: nobody, audit: withoutAuditLog() }).assess
}
