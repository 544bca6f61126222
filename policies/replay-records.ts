import type { Action, Decision, Grant, SandboxMode, Verdict } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import { assess } from './assess.ts'
import type { Policy } from './assessment.ts'
import { recall } from './audit/basis.ts'
import type { AuditRecord } from './audit/read-audit-log.ts'
import { joinPermissions } from './permissions/join.ts'
import type { PermissionSet } from './permissions/permission.ts'
import { loadRules } from './rules/load-rules.ts'
import { addRules, type RuleSet } from './rules/rule-set.ts'
import { mask } from './secrets/redact.ts'
import { withOpinions, type OthersOpinions } from './with-opinions.ts'

/** The conditions under which recorded actions are judged again. */
export type ReplayOptions = {
  readonly rules?: RuleSet
  readonly permissions?: PermissionSet
  /** The approval mode in which actions are judged. Default: the mode of each record. */
  readonly approvalMode?: ApprovalMode
  /** The sandbox that commands would run in and patches would be applied in. Default: that of each action. */
  readonly sandbox?: SandboxMode
}

/** The decision about an action that is judged again. `ask`: somebody would be asked, but nobody was asked when the action was recorded. */
export type ReplayedVerdict = Pick<Verdict, 'decidedBy' | 'reason' | 'rule'> & {
  readonly decision: Decision | 'ask'
}

/** A record, together with the decision that would be made now. */
export type ReplayedRecord = { readonly record: AuditRecord; readonly verdict: ReplayedVerdict }

/**
 * Judges all actions of a run again, in the original order, under other rules, permissions or modes. Nothing runs and nobody is asked. Recorded
 * answers are used again, and grants and approvals for the rest of the run apply to later actions. An action that was denied regardless of the rules
 * (by a hook, plan mode or the sandbox) stays denied. Under the run's own policy, the verdicts stay the same.
 *
 * @example
 * const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit: openAuditLog('audit.jsonl') })
 * await guardian.review({ type: 'exec', argv: ['git', 'push'], cwd: '/', sandbox: 'read-only' })
 * const rules = loadRules([{ path: 'new.rules', layer: 'user', text: 'prefix_rule(pattern = ["git", "push"], decision = "forbidden")' }])
 * for (const { record, verdict } of replayRecords(readAuditLog('audit.jsonl'), { rules })) {
 *   if (record.verdict.decision !== verdict.decision) console.log(record.number, verdict.reason)
 * }
 */
export function replayRecords(records: readonly AuditRecord[], options: ReplayOptions): readonly ReplayedRecord[] {
  let policy: Omit<Policy, 'mode'> = {
    ...joinPermissions(options.rules, options.permissions),
    writableRoots: [],
    standing: [],
  }
  return records.map((record) => {
    const mode = options.approvalMode ?? record.mode
    const verdict = judge(record, { ...policy, mode }, options.sandbox)
    policy = { ...policy, ...remembered(record, verdict, policy) }
    return { record, verdict }
  })
}

function judge(record: AuditRecord, policy: Policy, sandbox: SandboxMode | undefined): ReplayedVerdict {
  const { action, verdict, basis = basisOf(record) } = record
  if (basis.refused === true || verdict.decidedBy === 'guardian') return said(verdict)
  const placed = sandbox !== undefined && 'sandbox' in action ? { ...action, sandbox } : action
  const assessed = assess(unmask(placed), recall(policy, basis))
  const { decision, stage, rule, ...opinion } = withOpinions(assessed, basis)
  const reason = opinion.reason.replaceAll(standIn, mask)
  const named = rule === undefined ? {} : { rule }
  if (decision !== 'ask') return { decision, decidedBy: stage, reason, ...named }
  const wasAsked = wasAnswered(verdict)
  const isSilenced = policy.mode === 'never' && record.mode !== 'never' && action.type !== 'plan'
  if (wasAsked && !isSilenced) return said(verdict)
  const isNobodyAsked = policy.mode === 'never'
  return {
    decision: isNobodyAsked ? 'deny' : 'ask',
    decidedBy: isNobodyAsked ? 'reviewer:nobody' : stage,
    reason,
    ...named,
  }
}

/** The text that replaces the mask of a secret. It counts as one word, whereas a shell would read the mask itself as a pattern. */
const standIn = 'a-redacted-secret'

function unmask(action: Action): Action {
  const text = JSON.stringify(action)
  // Only the contents of strings change, so the result is still an `Action`.
  return text.includes(mask) ? (JSON.parse(text.replaceAll(mask, standIn)) as Action) : action
}

function said({ decision, decidedBy, reason, rule }: Verdict): ReplayedVerdict {
  return { decision, decidedBy, reason, ...(rule === undefined ? {} : { rule }) }
}

function wasAnswered({ decidedBy }: Pick<Verdict, 'decidedBy'>): boolean {
  return decidedBy.startsWith('reviewer:')
}

/**
 * The stages whose denials don't depend on the rules: a denial by one of them means that the action was impossible, that a hook refused it, or that
 * plan mode was on. Used for records that an earlier version wrote.
 */
const refusing: readonly string[] = ['confinement', 'hook', 'plan-mode']

/**
 * Reconstructs the opinions that a record's verdict was based on. Used for records that an earlier version wrote, since they don't contain the
 * opinions.
 */
function basisOf({
  verdict: { decision, decidedBy, reason },
}: AuditRecord): OthersOpinions & { readonly refused?: true } {
  if (decision === 'deny' && refusing.includes(decidedBy)) return { refused: true }
  const isHook = decision === 'allow' && (decidedBy === 'hook' || decidedBy === 'skill')
  return isHook ? { hook: { decision: 'allow', reason, by: decidedBy } } : {}
}

/** Returns what an answer that applies to the rest of the run adds to the policy when the replay uses it again: its grants and its rules. */
function remembered(
  { action, verdict: before, basis }: AuditRecord,
  verdict: ReplayedVerdict,
  { rules, standing }: Omit<Policy, 'mode'>,
): Partial<Pick<Policy, 'rules' | 'standing'>> {
  if (verdict.decision !== 'allow' || !wasAnswered(before) || !wasAnswered(verdict)) return {}
  const grants: readonly Grant[] = action.type === 'exec' ? (action.escalation?.grants ?? []) : []
  return {
    ...(before.holds === 'run' && grants.length > 0 ? { standing: [...standing, ...grants] } : {}),
    ...(basis?.learned === undefined
      ? {}
      : { rules: addRules(rules, loadRules([{ path: 'approved in this run', layer: 'user', text: basis.learned }])) }),
  }
}
