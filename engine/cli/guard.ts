import { join } from 'node:path'
import {
  createGuardian,
  nobody,
  openAuditLog,
  type ApprovalMode,
  type Guardian,
  type RuleSet,
} from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Session } from '../session/session.ts'

/** The Guardian of a run, with its audit log in the session's folder. */
export function guard(session: Session, rules: RuleSet, approvalMode: ApprovalMode, sandbox: Sandbox): Guardian {
  const audit = openAuditLog(join(session.directory, 'audit.jsonl'))
  return createGuardian({ approvalMode, rules, reviewer: nobody, audit, writableRoots: sandbox.policy.writableRoots })
}
