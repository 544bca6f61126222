export type * from './action.ts'
export { approvalModes, type ApprovalMode } from './approval-mode.ts'
export type { Assessment } from './assessment.ts'
export { AuditError } from './audit/audit-error.ts'
export type { AuditBasis } from './audit/basis.ts'
export { openAuditLog, withoutAuditLog, type AuditEntry, type AuditLog } from './audit/log.ts'
export { formatHead, parseHead, type AuditHead } from './audit/hash-chain.ts'
export { verifyAuditLog, type AuditFault, type AuditVerification } from './audit/verify-audit-log.ts'
export { readAuditLog, type AuditRecord } from './audit/read-audit-log.ts'
export { checkCommand, explainCheck, type CheckedCommand, type CheckOptions } from './check.ts'
export { readCommandTable, testCommandTable, type TableResult, type TableRow } from './check-table.ts'
export { analyseCommand, analyseScript, type AnalysedCommand, type CommandAnalysis } from './commands/analyse.ts'
export { describeAnalysis } from './commands/describe-analysis.ts'
export { findSensitive as secretPlace } from './commands/sensitive-paths.ts'
export type { Alarm, CommandClass, Fact } from './commands/facts.ts'
export { createGuardian, type CheckPlace, type Guardian } from './guardian.ts'
export type { GuardianOptions, ReviewOptions } from './guardian-options.ts'
export { explainCommand } from './explain.ts'
export { describeGrant } from './grants.ts'
export { effectOfVariable } from './programs/environment-variables.ts'
export type { PatchChange } from './patch-change.ts'
export { replayRecords, type ReplayOptions, type ReplayedRecord, type ReplayedVerdict } from './replay-records.ts'
export { withBreaker, type BreakerLimits } from './reviewers/breaker.ts'
export {
  createHumanReviewer,
  type HumanChoice,
  type HumanOptions,
  type HumanQuestion,
} from './reviewers/human-reviewer.ts'
export { createModelReviewer, type CompletionRequest, type ModelReviewerOptions } from './reviewers/model-reviewer.ts'
export { defaultReviewPolicy } from './reviewers/model-policy.ts'
export {
  createProgramReviewer,
  httpExchange,
  lineExchange,
  type Exchange,
  type ProgramOptions,
} from './reviewers/program-reviewer.ts'
export { nobody, type Reviewer, type ReviewerAnswer, type ReviewRequest } from './reviewer.ts'
export type { PermissionLists } from './permissions/lists.ts'
export { loadPermissions, withoutAllows, type LeftOut, type PermissionFile } from './permissions/load-permissions.ts'
export type { ProposedRule } from './reviewers/rule-proposal.ts'
export {
  describePermission as describeDeny,
  type PathPermission as FileDeny,
  type PermissionSet,
} from './permissions/permission.ts'
export { holdsSecret, namesSecret } from './secrets/secret-file.ts'
export { makeRedactor, redactDeep } from './secrets/redact.ts'
export { SecretStream } from './secrets/secret-stream.ts'
export { defaultRules } from './rules/default-rules.ts'
export { loadRules, withoutAllowingRules, type RuleFile } from './rules/load-rules.ts'
export { findIdleRules, type IdleRule } from './rules/idle-rules.ts'
export { shippedRules } from './rules/shipped-rules.ts'
export { RuleError } from './rules/rule-error.ts'
export type { RuleSet } from './rules/rule-set.ts'
export { splitWords } from './rules/split-words.ts'
export type { RuleLayer, RuleOrigin } from './rules/rule.ts'
