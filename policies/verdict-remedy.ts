import type { Action } from './action.ts'
import { approvalModes, type ApprovalMode } from './approval-mode.ts'
import { assess } from './assess.ts'
import { judgeCommands } from './assess-exec.ts'
import type { Policy } from './assessment.ts'
import { staticText } from './commands/shell-word.ts'
import { prefixRule, proposeRule } from './reviewers/rule-proposal.ts'
import { loadRules } from './rules/load-rules.ts'
import { describeRule } from './rules/rule.ts'
import { addRules } from './rules/rule-set.ts'

type ExecAction = Extract<Action, { type: 'exec' }>

/** What would let a command run without anybody being asked. Each remedy is tried on the command before it is suggested. */
type Remedy =
  /** Lines of a rule file. */
  | { readonly kind: 'rules'; readonly text: string }
  | { readonly kind: 'mode'; readonly mode: ApprovalMode }
  /** A rule that ships with this program restricts the command, and no other rule can override it. */
  | { readonly kind: 'shipped-rule' }
  /** Nothing helps: no rule, and no mode except `bypass`. */
  | { readonly kind: 'nothing' }

/** The narrowest change that would let a command run without anybody being asked. */
function findRemedy(action: ExecAction, policy: Policy): Remedy {
  const { rule } = assess(action, policy)
  const speaking = policy.rules.restricting.find((one) => describeRule(one) === rule)
  if (speaking?.origin.layer === 'default') return { kind: 'shipped-rule' }
  const rules = candidateRules(action, policy).find((text) => isAllowed(action, withRules(policy, text)))
  if (rules !== undefined) return { kind: 'rules', text: rules }
  const mode = approvalModes
    .filter((one) => one !== policy.mode && one !== 'bypass')
    .find((one) => isAllowed(action, { ...policy, mode: one }))
  return mode === undefined ? { kind: 'nothing' } : { kind: 'mode', mode }
}

/**
 * Describes what would let a command run without anybody being asked. Undefined for other actions, for a command that asks for more than the sandbox allows,
 * and if a rule or permission that isn't built into Portcullis decided.
 */
export function remedyFor(action: Action, rule: string | undefined, policy: Policy): string | undefined {
  if (action.type !== 'exec' || action.escalation !== undefined) return undefined
  const remedy = findRemedy(action, policy)
  return rule === undefined || remedy.kind === 'shipped-rule' ? describeRemedy(remedy) : undefined
}

/** Describes a remedy in words, for the user. */
function describeRemedy(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'rules':
      return `Whoever runs this can allow it by adding this to a .rules file: ${remedy.text}`
    case 'mode':
      return `Whoever runs this can allow it with --ask-for-approval ${remedy.mode}; no rule can allow it.`
    case 'shipped-rule':
      return `That rule is built into Portcullis, and no other rule overrides it: ${byPeople}.`
    case 'nothing':
      return `No rule and no other approval mode lets it run without approval: ${byPeople}.`
    default:
      return remedy satisfies never
  }
}

const byPeople =
  'continue without it, or leave it to the user, who can run it by hand, or can start the run with a reviewer (--approval-program, --approve-for-me) and in a mode that asks, such as --ask-for-approval on-request'

const mostRules = 3
const longestRules = 500

/**
 * Returns proposals of rules that may let the command run without approval: a rule that also covers similar commands, and the rules for the exact words
 * of each command that requires approval.
 */
function candidateRules(action: ExecAction, policy: Policy): readonly string[] {
  const proposed = proposeRule(action)
  const exact = judgeCommands(action, policy)
    .filter(({ opinion }) => opinion !== undefined && opinion.decision !== 'allow')
    .map(({ command }) => command.words.map((word) => staticText(word)))
  const known = exact.flatMap((words) =>
    words.length === 0 || words.some((word) => word === undefined || word === '') ? [] : [words.map(String)],
  )
  const lines = [...new Set(known.map(prefixRule))]
  const whole = lines.join('\n')
  const fits =
    known.length === exact.length && lines.length > 0 && lines.length <= mostRules && whole.length <= longestRules
  return [...(proposed?.kind === 'rule' ? [proposed.text] : []), ...(fits ? [whole] : [])]
}

function withRules(policy: Policy, text: string): Policy {
  return { ...policy, rules: addRules(policy.rules, loadRules([{ path: 'tried', layer: 'user', text }])) }
}

function isAllowed(action: ExecAction, policy: Policy): boolean {
  return assess(action, policy).decision === 'allow'
}
