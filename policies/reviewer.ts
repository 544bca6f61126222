import type { Action } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import type { CommandAnalysis } from './commands/analyse.ts'

/** A question that a reviewer has to answer. */
export type ReviewRequest = {
  readonly action: Action
  readonly mode: ApprovalMode
  /** The stage that asks, such as `rules` or `mode`. */
  readonly asksFor: string
  /** Why the stage asks, as a sentence. */
  readonly reason: string
  /** The `file:line` and the content of the rule or permission that requires asking, if there is one. */
  readonly rule: string | undefined
  readonly analysis: CommandAnalysis | undefined
  /** A patch as a unified diff for the reviewer, possibly truncated. Absent: the action isn't a patch, or no diff was made. */
  readonly diff?: string
  /** Describes what would let a command run without anybody being asked. Absent: it wasn't determined. */
  readonly remedy?: string
  /** The caller's id for the action, such as the id of a tool call. Used in reports. */
  readonly subject?: string
}

/** A reviewer's answer. Only `allowed` lets anything run. Timeouts and failures have separate outcomes, so that nobody mistakes them for a judgement. */
export type ReviewerAnswer = {
  readonly outcome: 'allowed' | 'denied' | 'aborted' | 'timed-out' | 'unavailable' | 'malformed'
  readonly reason: string
  /** `run`: the grants that the action asked for also apply to all later actions. Absent: they apply only to this action. */
  readonly scope?: 'run'
  /** A rule, in the syntax of rule files, that applies from now on in this run. Absent: none. */
  readonly rule?: string
  /** The assessment by a reviewing model, for reports. Absent: the reviewer isn't a model, or it gave no verdict. */
  readonly assessment?: Assessment
}

/** The verdict of a reviewing model. */
type Assessment = {
  readonly risk: 'low' | 'medium' | 'high' | 'critical'
  /** How clearly the user requested the action. */
  readonly authorization: 'unknown' | 'low' | 'medium' | 'high'
}

type AskOptions = {
  readonly signal?: AbortSignal
  /** How many actions were allowed without a question since the last one. Absent: none. */
  readonly allowedBefore?: number
}

/** Answers questions about actions. If the promise that `review` returns rejects, the answer counts as `unavailable`. */
export type Reviewer = {
  /** A short name, which `decidedBy` shows as `reviewer:NAME`. */
  readonly name: string
  readonly review: (request: ReviewRequest, options: AskOptions) => Promise<ReviewerAnswer>
}

/**
 * The reviewer that is used if nobody can be asked. It denies at once, and the reason contains the question and how to allow the action.
 *
 * @example
 * const guardian = createGuardian({ approvalMode: 'on-request', reviewer: nobody, audit: withoutAuditLog() })
 * const { verdict } = await guardian.review({ type: 'exec', argv: ['sudo', 'ls'], cwd: '/', sandbox: 'read-only' }) // denied
 */
export const nobody: Reviewer = {
  name: 'nobody',
  review: (request) =>
    Promise.resolve({
      outcome: 'denied',
      reason: `${request.reason} Nobody is here to approve it (the check that requires approval: ${request.asksFor}). ${howToAllow(request)}`,
    }),
}

function howToAllow({ action, rule, mode, remedy }: ReviewRequest): string {
  if (rule !== undefined && remedy === undefined) return `It needs approval as long as the rule ${rule} exists.`
  switch (action.type) {
    case 'exec':
      return action.escalation === undefined
        ? (remedy ?? 'Whoever runs this can name a reviewer who may allow it.')
        : 'Work within the sandbox; whoever runs this can widen it in the configuration (extra roots, network), or name a reviewer.'
    case 'patch':
      if (action.instructs === true) {
        const [file] = action.changes
        return `Say in your answer what should be remembered; whoever runs this can allow it with the permission Edit(/${file?.path ?? ''}).`
      }
      return mode === 'untrusted'
        ? 'Whoever runs this can choose another --ask-for-approval mode.'
        : 'Keep changes within the writable roots and off protected files; whoever runs this can add roots in the configuration.'
    case 'read':
      return 'Do without the file; whoever runs this can name a reviewer who may allow it, or tell you what you need from it.'
    case 'network': {
      // A plain TCP connection may carry anything, and a rule for any protocol applies to it, so the suggested rule names HTTPS.
      const protocol = action.protocol === 'tcp' ? 'https' : action.protocol
      return `Whoever runs this can allow it with network_rule(host = "${action.host}", protocol = "${protocol}", decision = "allow").`
    }
    case 'search':
      return 'Whoever runs this can allow it with the permission WebSearch, or by giving commands wider network access.'
    case 'mcp':
      return `Whoever runs this can allow it with the permission mcp__${action.server}__${action.tool}.`
    case 'plan':
      return 'Whoever runs this can continue the session without plan mode.'
    case 'land':
      return 'The changes are kept: `agent changes` shows them, and `agent apply` lands them.'
    default:
      return action satisfies never
  }
}
