import { assess } from './assess.ts'
import { judgeCommands, type JudgedCommand } from './assess-exec.ts'
import { toExecAction, toPolicy, visibleLine, type CheckOptions } from './check.ts'
import { describeFact, worstClass, type CommandClass } from './commands/facts.ts'
import type { Opinion } from './opinion.ts'
import { proposeRule } from './reviewers/rule-proposal.ts'

function outcome(decision: Opinion['decision'], { approvalMode }: CheckOptions): string {
  if (decision === 'allow') return 'it would run without approval'
  if (decision === 'deny') return 'it would be refused'
  return approvalMode === 'never'
    ? 'it would need approval, and would be refused, because nobody is asked in this mode'
    : 'it would need approval, and would be refused if nobody answers'
}

const kinds: Readonly<Record<CommandClass, string>> = {
  'read-only': 'only reads',
  writes: 'writes files',
  network: 'uses the network',
  'runs-code': 'runs unknown code',
  destructive: 'destroys something',
  unknown: 'does something unknown',
}

/**
 * Explains a decision: one paragraph about the whole command line, and one for each command in it. The paragraphs describe what a command is, what it
 * does, what determines the decision, and what would let it run without anybody being asked. The text ends with a line feed.
 *
 * @param command a line for a shell, or an argument vector
 * @example console.log(explainCommand('cd x && rm y', { approvalMode: 'untrusted', sandbox: 'read-only' }))
 */
export function explainCommand(command: string | readonly string[], options: CheckOptions): string {
  const action = toExecAction(command, options)
  const policy = toPolicy(options)
  const whole = assess(action, policy)
  const judged = judgeCommands(action, policy).filter(
    ({ command: { words, around } }) => words.length + around.length > 0,
  )
  // The shell that runs the command line is not one of the line's commands.
  const parts = typeof command === 'string' ? judged.slice(1) : judged
  const shown = visibleLine(typeof command === 'string' ? command : command.join(' ')) || '(an empty line)'
  if (parts.length === 0 && whole.decision === 'allow')
    return `${shown}\n\nThe line contains no commands, so nothing runs.\n`
  const count = parts.length === 1 ? 'one command' : `${parts.length} commands`
  const under = `In approval mode ${options.approvalMode} with the sandbox ${options.sandbox}:`
  const head = `The line runs ${count}. ${under} ${outcome(whole.decision, options)}. ${whole.reason}${ruleOf(whole)}`
  const hidden = [...(whole.analysis?.problems ?? []), ...(whole.analysis?.evaluations ?? [])].map(
    (reason) => `The analysis can't determine everything that the line runs: ${visibleLine(reason)}.`,
  )
  const paragraphs = parts.map((part, at) => `${at + 1}. ${explainPart(part, options)}`)
  return `${[shown, [visibleLine(head), ...hidden].join(' '), ...paragraphs].join('\n\n')}\n`
}

function explainPart({ command, opinion }: JudgedCommand, options: CheckOptions): string {
  const facts = [...command.facts, ...command.around]
  const words = command.words.map(({ text }) => text).join(' ')
  const name = words === '' ? 'The shell itself' : `\`${words}\``
  const does = distinct([...facts.filter(({ class: kind }) => kind !== 'read-only').map(describeFact)])
  const what = does.length === 0 ? 'only reads' : `${kinds[worstClass(facts)]}: ${does.join(', ')}`
  const unlisted = command.unlisted ? ' The program is not in the tables of known programs.' : ''
  const alarms = distinct(command.alarms.map(({ reason }) => reason))
  const alarmed = alarms.length === 0 ? '' : ` No rule that allows the command covers this: ${alarms.join('; ')}.`
  const decided = opinion === undefined ? 'Nothing about it needs approval.' : decision(opinion)
  const way =
    opinion === undefined || opinion.decision === 'allow'
      ? ''
      : ` ${howToAllow(opinion, command.alarms.length + command.around.length > 0, words, options)}`
  return visibleLine(`${name} ${what}.${unlisted}${alarmed} ${decided}${way}`)
}

function decision(opinion: Opinion): string {
  const verb = { allow: 'It is allowed', ask: 'It needs approval', deny: 'It is refused' }[opinion.decision]
  const by = { rules: 'a rule', permissions: 'a permission', analysis: 'what it does', mode: 'the mode' } as const
  const stage = Object.hasOwn(by, opinion.stage) ? by[opinion.stage as keyof typeof by] : opinion.stage
  return `${verb} because of ${stage}${ruleOf(opinion)}.`
}

function ruleOf({ rule }: Opinion): string {
  return rule === undefined ? '' : ` (${rule})`
}

function howToAllow(opinion: Opinion, hasMore: boolean, words: string, options: CheckOptions): string {
  if (opinion.rule !== undefined) return `To change the decision, change the rule ${opinion.rule}.`
  const ask = 'have somebody answer (a person at the terminal, --approval-program, --approve-for-me)'
  if (opinion.decision === 'deny') return 'No setting allows this.'
  // No rule is proposed if there is an alarm, or if the shell opens files or sets variables: no rule about the command covers these.
  const rule = hasMore ? undefined : proposeRule(toExecAction(words, options))
  if (rule === undefined)
    return `No rule should allow it permanently; ${ask}, or choose another --ask-for-approval mode.`
  return `To let it run without approval, put this into a rule file: ${rule.text}. Or ${ask}.`
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
