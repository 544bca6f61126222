import type { Action, SandboxMode } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import { assess } from './assess.ts'
import type { Policy } from './assessment.ts'
import { describeAnalysis } from './commands/describe-analysis.ts'
import { describeFact, worstClass, type CommandClass } from './commands/facts.ts'
import { joinPermissions } from './permissions/join.ts'
import type { PermissionSet } from './permissions/permission.ts'
import type { RuleSet } from './rules/rule-set.ts'

/** The conditions under which a command is checked. */
export type CheckOptions = {
  readonly approvalMode: ApprovalMode
  readonly sandbox: SandboxMode
  readonly rules?: RuleSet
  readonly permissions?: PermissionSet
  /** Whether the command would work on a private view of the workspace, as commands of a run in `workspace-write` usually do. Default: no. */
  readonly onView?: boolean
  /** The folder in which the command would run. Default: `/`. The check reads no files, so the folder needn't exist. */
  readonly cwd?: string
}

/** The decision about a command, and the reason. Its fields are the ones that `agent policy check --json` prints. */
export type CheckedCommand = {
  readonly command: string
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly class: CommandClass
  /** Every simple command that would run, each as one line of text. */
  readonly commands: readonly {
    readonly command: string
    readonly class: CommandClass
    readonly reasons: readonly string[]
  }[]
  /** The stage that made the decision. */
  readonly decidedBy: string
  readonly reason: string
  /** The `file:line` and the content of the deciding rule or permission. Absent: none decides. */
  readonly rule?: string
  /** Every reason why the command isn't considered read-only. */
  readonly reasons: readonly string[]
}

/**
 * Decides about a command, given as a line for a shell or as an argument vector, without running it. A guardian decides with the same code, so it
 * decides differently only if it knows more: about paths on the machine, from hooks, or from approvals during the run. Nobody is asked, and nothing
 * is recorded.
 *
 * @example const { decision, reason } = checkCommand('git push', { approvalMode: 'untrusted', sandbox: 'read-only' })
 */
export function checkCommand(command: string | readonly string[], options: CheckOptions): CheckedCommand {
  return checkUnder(toPolicy(options), command, options)
}

/** Like `checkCommand`, but decides under the given policy, such as a guardian's current one. */
export function checkUnder(
  policy: Policy,
  command: string | readonly string[],
  place: Pick<CheckOptions, 'sandbox' | 'cwd'>,
): CheckedCommand {
  const { decision, stage, reason: said, rule, analysis } = assess(toExecAction(command, place), policy)
  const commands = (analysis?.commands ?? []).slice(typeof command === 'string' ? 1 : 0).map((one) => {
    const facts = [...one.facts, ...one.around]
    return {
      command: one.words.map(({ text }) => text).join(' '),
      class: worstClass(facts),
      reasons: [
        ...one.alarms.map((alarm) => alarm.reason),
        ...facts.filter((fact) => fact.class !== 'read-only').map(describeFact),
      ],
    }
  })
  const reason =
    commands.length === 0 && decision === 'allow' ? 'The line contains no commands, so nothing runs.' : said
  return {
    command: typeof command === 'string' ? command : command.join(' '),
    decision,
    class: analysis?.class ?? 'unknown',
    commands,
    decidedBy: stage,
    reason,
    ...(rule === undefined ? {} : { rule }),
    reasons: analysis === undefined ? [] : describeAnalysis(analysis),
  }
}

/** The action that runs a command: a line is passed to a shell, and an argument vector runs as it is. */
export function toExecAction(
  command: string | readonly string[],
  { cwd = '/', sandbox }: Pick<CheckOptions, 'sandbox' | 'cwd'>,
): Extract<Action, { type: 'exec' }> {
  const argv = typeof command === 'string' ? ['/bin/bash', '-c', command] : command
  return { type: 'exec', argv, cwd, sandbox }
}

/** The policy under which a command is checked: the one that a run has when it starts, but without facts about the paths on the machine. */
export function toPolicy(options: CheckOptions): Policy {
  const policy = policies.get(options) ?? makePolicy(options)
  policies.set(options, policy)
  return policy
}

/**
 * The policies, keyed by the options from which they were made. All rows of a table have the same options, so the many rules are combined only once.
 */
const policies = new WeakMap<CheckOptions, Policy>()

function makePolicy({ approvalMode, rules, permissions, onView }: CheckOptions): Policy {
  return { mode: approvalMode, ...joinPermissions(rules, permissions), onView, writableRoots: [], standing: [] }
}

const decisions = { allow: 'would run without approval', ask: 'would need approval', deny: 'would be refused' } as const

/**
 * Explains a check in human-readable text, which ends with a line feed.
 *
 * @example
 * const options = { approvalMode: 'untrusted', sandbox: 'read-only' } as const
 * console.log(explainCheck(checkCommand('cd x && rm y', options), options))
 */
export function explainCheck(checked: CheckedCommand, options: CheckOptions): string {
  const lines = [
    visibleLine(checked.command) || '(an empty line)',
    `  ${decisions[checked.decision]} (mode ${options.approvalMode}, sandbox ${options.sandbox})`,
    `  decided by ${checked.decidedBy}: ${checked.reason}`,
    ...(checked.rule === undefined ? [] : [`  rule ${checked.rule}`]),
    `  as a whole: ${checked.class}`,
    ...checked.commands.flatMap(({ command, class: kind, reasons }) => [
      `  - ${visibleLine(command) || '(the shell itself)'}: ${kind}`,
      ...reasons.map((reason) => `      ${reason}`),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

/** Makes control characters and invisible characters in a text visible. Otherwise a command could overwrite the text that describes it. */
export function visibleLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^[^\\]$/, (raw) => `\\u${raw.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
