import type { Action, Grant, Review, SandboxMode, Verdict } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import { approve, freezeAction } from './approve.ts'
import { assess } from './assess.ts'
import type { Assessment, Policy } from './assessment.ts'
import { observe } from './audit/basis.ts'
import type { AuditHead } from './audit/hash-chain.ts'
import type { GuardianOptions, ReviewOptions } from './guardian-options.ts'
import { checkUnder, type CheckedCommand } from './check.ts'
import { deny, messageOf } from './deny.ts'
import type { CommandAnalysis } from './commands/analyse.ts'
import { nobody, type Reviewer, type ReviewerAnswer } from './reviewer.ts'
import { remedyFor } from './verdict-remedy.ts'
import { withOpinions } from './with-opinions.ts'
import { joinPermissions } from './permissions/join.ts'
import { loadRules } from './rules/load-rules.ts'
import { addRules } from './rules/rule-set.ts'

/** Where a checked command would run. */
export type CheckPlace = {
  /** The mode of the sandbox that the command would run in. Default: `workspace-write`. */
  readonly sandbox?: SandboxMode
  /** The folder that the command would run in; it needn't exist. Default: `/`. */
  readonly cwd?: string
}

/** Decides about actions. Nothing runs without an `Approved` action, and only a guardian creates one. */
export type Guardian = {
  /**
   * Judges an action, and asks the reviewer if the rules and the approval mode leave the decision open. Always resolves: a failure becomes a denial that says
   * so. The verdict is in the audit log before it is returned; if it can't be recorded, the action is denied.
   */
  readonly review: <A extends Action>(action: A, options?: ReviewOptions) => Promise<Review<A>>
  /**
   * What the rules, the analysis and the approval mode say about an action. Nobody is asked, and nothing is recorded. `review` begins with the same assessment.
   */
  readonly assess: (action: Action) => Assessment
  /** The decision about a command (a line for a shell, or an argument vector) and its reason. Nothing is run or recorded, and nobody is asked. */
  readonly check: (command: string | readonly string[], place?: CheckPlace) => CheckedCommand
  /**
   * Records an action that something else than this guardian allowed: a request with a credential, which the user's own rows allow. A replay keeps the verdict.
   */
  readonly note: (action: Action, allowed: { readonly by: string; readonly reason: string }, took: number) => void
  /** The head of the audit log. A copy that is stored elsewhere reveals later whether the log was truncated. */
  readonly head: () => AuditHead
  readonly mode: ApprovalMode
  /** Whether there is anybody who could allow what the rules and the approval mode leave open. */
  readonly canAsk: boolean
}

/**
 * Creates a guardian. Its options are read once. After that, only reviewers' answers that apply to the rest of the run change its policy.
 *
 * @example
 * const guardian = createGuardian({ approvalMode: 'on-request', reviewer: nobody, audit: withoutAuditLog() })
 * const { verdict } = await guardian.review({ type: 'exec', argv: ['ls'], cwd: '/', sandbox: 'workspace-write' })
 * console.log(verdict.decision, guardian.check('rm -rf /').reason)
 */
export function createGuardian(options: GuardianOptions): Guardian {
  const { approvalMode, audit } = options
  // In `never` mode, this reviewer isn't asked. Plans have a reviewer of their own.
  const reviewer = approvalMode === 'never' ? nobody : options.reviewer
  /** How many actions were allowed without a question since the last one. */
  let allowedUnasked = 0
  let policy: Policy = {
    mode: approvalMode,
    ...joinPermissions(options.rules, options.permissions),
    ...{ onView: options.onView, writableRoots: options.writableRoots ?? [] },
    ...{ protects: options.protects, conceals: options.conceals, hides: options.hides },
    standing: [],
  }
  return {
    assess: (action) => assess(action, policy),
    check: (command, { sandbox = 'workspace-write', ...place } = {}) =>
      checkUnder(policy, command, { sandbox, ...place }),
    head: () => audit.head(),
    note: (action, { by, reason }, took) =>
      audit.append({
        ...{ action, mode: approvalMode, analysis: undefined, basis: { refused: true }, took },
        verdict: { decision: 'allow', sandbox: 'as-requested', decidedBy: by, reason },
      }),
    mode: approvalMode,
    canAsk: reviewer !== nobody,
    review: async <A extends Action>(action: A, options: ReviewOptions = {}): Promise<Review<A>> => {
      const started = performance.now()
      let frozen: A
      let analysis: CommandAnalysis | undefined
      let verdict: Verdict
      const observed = observe(policy)
      let learned: string | undefined
      try {
        frozen = freezeAction(action)
        const assessment = withOpinions(assess(frozen, observed.policy), options)
        analysis = assessment.analysis
        const { refuse, refusedBy = 'confinement' } = options
        const learn = (rule: string): unknown => (learned = rule)
        verdict = refuse === undefined ? await decide(frozen, assessment, options, learn) : deny(refusedBy, refuse)
      } catch (cause) {
        verdict = deny('guardian', `The review itself failed, so nothing was run: ${messageOf(cause)}`)
        frozen = action
      }
      try {
        const commands = analysis?.commands.map(({ words }) => words.map(({ text }) => text).join(' ')) ?? []
        const noted =
          analysis === undefined ? undefined : { class: analysis.class, commands, problems: analysis.problems }
        audit.append({
          action: frozen,
          mode: approvalMode,
          verdict,
          analysis: noted,
          basis: {
            ...(options.hook === undefined ? {} : { hook: options.hook }),
            ...(options.byUser === undefined ? {} : { byUser: options.byUser }),
            ...(options.refuse === undefined ? {} : { refused: true }),
            ...(learned === undefined ? {} : { learned }),
            ...observed.facts(frozen),
          },
          took: performance.now() - started,
        })
      } catch (cause) {
        verdict = deny('audit', `The decision could not be recorded, so nothing was run: ${messageOf(cause)}`)
      }
      if (verdict.decision === 'allow') {
        return { verdict: { ...verdict, decision: verdict.decision }, approved: approve(frozen) }
      }
      return { verdict: { ...verdict, decision: verdict.decision } }
    },
  }

  async function decide(
    action: Action,
    assessment: Assessment,
    { signal, hook: _, refuse: __, refusedBy: ___, byUser: ____, ...more }: ReviewOptions,
    learn: (rule: string) => unknown,
  ): Promise<Verdict> {
    const { decision, stage, reason, rule } = assessment
    const named = rule === undefined ? {} : { rule }
    const escalation = action.type === 'exec' ? action.escalation : undefined
    const sandbox = escalation === undefined ? 'as-requested' : 'escalated'
    const holding = (holds: Verdict['holds']): Pick<Verdict, 'holds'> =>
      escalation === undefined || holds === undefined ? {} : { holds }
    if (decision === 'deny') return { ...deny(stage, reason), ...named }
    // What is granted without asking stays granted for the rest of the run.
    if (decision === 'allow') {
      allowedUnasked += 1
      return { decision, sandbox, decidedBy: stage, reason, ...named, ...holding('run') }
    }
    const asked = action.type === 'plan' ? (options.planReviewer ?? nobody) : reviewer
    const base = { action, mode: approvalMode, asksFor: stage, reason, rule, analysis: assessment.analysis, ...more }
    const remedy = asked === nobody ? remedyFor(action, rule, policy) : undefined
    const request = remedy === undefined ? base : { ...base, remedy }
    const answer = await ask(asked, request, signal)
    const decidedBy = `reviewer:${asked.name}`
    switch (answer.outcome) {
      case 'allowed':
        remember(answer, escalation?.grants ?? [])
        if (answer.rule !== undefined) learn(answer.rule)
        return {
          decision: 'allow',
          sandbox,
          decidedBy,
          reason: answer.reason,
          ...named,
          ...holding(answer.scope ?? 'once'),
        }
      case 'denied':
        return { ...deny(decidedBy, answer.reason), ...named }
      case 'aborted':
        return { ...deny(decidedBy, answer.reason), decision: 'abort', ...named }
      case 'timed-out':
        return { ...deny(decidedBy, `Not approved: the reviewer did not answer in time. ${answer.reason}`), ...named }
      case 'unavailable':
        return { ...deny(decidedBy, `Not approved: the reviewer could not be reached. ${answer.reason}`), ...named }
      case 'malformed':
        return {
          ...deny(decidedBy, `Not approved: the reviewer's answer could not be understood. ${answer.reason}`),
          ...named,
        }
      default:
        return deny(
          decidedBy,
          `Not approved: the reviewer gave an unknown answer (${String(answer.outcome satisfies never)}).`,
        )
    }
  }

  /** Makes a reviewer's answer part of the policy for the rest of the run. */
  function remember({ scope, rule }: ReviewerAnswer, grants: readonly Grant[]): void {
    if (scope === 'run') policy = { ...policy, standing: [...policy.standing, ...grants] }
    if (rule === undefined) return
    const added = loadRules([{ path: 'approved in this run', layer: 'user', text: rule }])
    policy = { ...policy, rules: addRules(policy.rules, added) }
  }

  async function ask(
    asked: Reviewer,
    request: Parameters<Reviewer['review']>[0],
    signal: AbortSignal | undefined,
  ): Promise<ReviewerAnswer> {
    const allowedBefore = allowedUnasked
    allowedUnasked = 0
    if (isAborted(signal))
      return { outcome: 'denied', reason: 'The run was interrupted before anybody could approve it.' }
    try {
      return await asked.review(request, { ...(signal === undefined ? {} : { signal }), allowedBefore })
    } catch (cause) {
      if (isAborted(signal))
        return { outcome: 'denied', reason: 'The run was interrupted while it waited for approval.' }
      return { outcome: 'unavailable', reason: messageOf(cause) }
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
