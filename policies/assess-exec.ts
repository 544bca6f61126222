import type { Action } from './action.ts'
import { answerForAlarm, answerForFact } from './approval-mode.ts'
import type { Assessment, Policy } from './assessment.ts'
import { analyseCommand, type AnalysedCommand, type CommandAnalysis } from './commands/analyse.ts'
import { describeFact, readOnly, unknown, type CommandClass, type Fact } from './commands/facts.ts'
import type { ShellWord } from './commands/shell-word.ts'
import { strictest, type Opinion } from './opinion.ts'
import { permitHost, permitLook, permitPath } from './permissions/permit.ts'
import { judgeReach } from './permissions/reach.ts'
import { assessConcealed, foldersOf } from './assess-concealed.ts'
import { asKnown, isOutOfView } from './out-of-view.ts'
import { assessEscalation } from './assess-escalation.ts'
import { findStarted } from './assess-started.ts'
import { matchRules } from './rules/match-rules.ts'
import { describePattern, describeRule, type PrefixRule } from './rules/rule.ts'

type ExecAction = Extract<Action, { type: 'exec' }>

/**
 * Judges a command line. Every command in the line is judged by the rules; if no rule allows a command, the approval mode judges it. The strictest
 * answer wins. An allow rule covers only the program's own effects. It doesn't cover alarms, leaving the sandbox, or the redirections and variable
 * assignments that the shell performs for the command.
 */
export function assessExec(action: ExecAction, policy: Policy): Assessment {
  const analysis = analyse(action, policy)
  const opinions = [
    ...(action.escalation === undefined ? [] : assessEscalation(action.escalation, policy)),
    ...assessUnseen(action, analysis, policy),
    ...analysis.commands.flatMap((command) => assessCommand(command, action, policy)),
    ...assessFiles(action, analysis, policy),
    ...assessConcealed(analysis.commands, action, policy),
  ]
  const fallback: Opinion = { decision: 'allow', stage: 'analysis', reason: 'The command only reads.' }
  const said = strictest(opinions) ?? fallback
  const whole = said.decision === 'allow' && said.stage === 'analysis' && analysis.class !== 'read-only'
  return { ...said, ...(whole ? { reason: wholeLine(analysis.class, action, policy) } : {}), analysis }
}

/** What to do about a request for privileges in a sandbox. */
const gainsNothing =
  ' In the sandbox, no command can get them. Run the command without them; what needs them, such as installing packages of the system, must be done before the run, by its user.'

function analyse({ argv, cwd, workspace = cwd }: ExecAction, { writableRoots }: Policy): CommandAnalysis {
  return analyseCommand(argv, cwd, { workspace, roots: writableRoots })
}

/** The reason for allowing a command line in which no command requires approval. It names the worst effect, and says that the approval mode accepts it. */
function wholeLine(worst: CommandClass, { sandbox }: ExecAction, { mode }: Policy): string {
  const does: Readonly<Record<CommandClass, string>> = {
    'read-only': 'only reads',
    writes: 'writes files',
    network: 'uses the network',
    'runs-code': 'runs code',
    destructive: 'destroys something',
    unknown: 'has unknown effects',
  }
  return `The command ${does[worst]}, which approval mode "${mode}" allows (sandbox: ${sandbox}).`
}

/**
 * Judges what the analysis can't see in a command line. The decision depends on the approval mode, and on the rules that restrict commands, because
 * such a command could be hidden there. The default rules don't count here: if they did, nothing unusual would ever run without somebody being asked.
 */
function assessUnseen(action: ExecAction, analysis: CommandAnalysis, { mode, rules }: Policy): readonly Opinion[] {
  const opaque = analysis.commands.flatMap((command) => (command.opaque === undefined ? [] : [command.opaque]))
  const worst = rules.concealing.find(({ decision }) => decision === 'forbidden') ?? rules.concealing[0]
  const hidden = [...analysis.problems, ...opaque].map((reason) => ({ reason, mayHide: worst }))
  const text = action.argv
    .join(' ')
    .replace(/["'\\]/g, '')
    .toLowerCase()
  const evaluated = analysis.evaluations.map((reason) => ({
    reason,
    // Data that the shell evaluates is usually a number, so a restricting rule counts only if the command line names the rule's program.
    mayHide: rules.concealing.find(({ pattern }) => pattern[0]?.some((name) => text.includes(name.toLowerCase()))),
  }))
  return [...hidden, ...evaluated].flatMap(({ reason, mayHide }): readonly Opinion[] => {
    const byMode: Opinion = {
      decision: answerForFact(mode, action.sandbox, unknown(reason)),
      stage: 'analysis',
      reason: `It is unclear what this command runs: ${reason}.`,
    }
    if (mayHide === undefined) return [byMode]
    const words = `It is unclear whether this command runs something that a rule restricts, such as \`${describePattern(mayHide)}\`: ${reason}.`
    return [
      byMode,
      { decision: whereUnclear(mayHide, mode), stage: 'rules', reason: words, rule: describeRule(mayHide) },
    ]
  })
}

/**
 * The decision about a command line if it is unclear whether a rule restricts it. Usually somebody is asked. In the modes `never` and `on-failure`,
 * however, a rule that forbids a command denies the whole line, because the forbidden command could hide in the part that wasn't understood.
 */
function whereUnclear({ decision }: PrefixRule, mode: Policy['mode']): 'ask' | 'deny' {
  return decision === 'forbidden' && (mode === 'never' || mode === 'on-failure') ? 'deny' : 'ask'
}

/**
 * What the permissions say about the files that commands name and the hosts that they reach. A permission that allows a file or host doesn't allow the command.
 */
function assessFiles(action: ExecAction, analysis: CommandAnalysis, policy: Policy): readonly Opinion[] {
  // Patterns are relative to the folder in which the command line begins, even if the line changes to another folder.
  const permissions = { base: action.cwd, ...policy.permissions }
  if (permissions.paths.length === 0 && permissions.hosts.length === 0) return []
  // Without a sandbox, nothing but this check enforces the permissions.
  const stands = action.sandbox === 'danger-full-access' && policy.mode !== 'bypass'
  const opinions = analysis.commands.flatMap((command) => {
    const { facts, around, reads, names, trees } = command
    const folders = foldersOf(command, action.cwd)
    const removed = removedPaths(command)
    const all = [...facts, ...around]
    const written = all.flatMap((fact) => (fact.class === 'writes' ? fact.paths : []))
    const hosts = all.flatMap((fact) => (fact.class === 'network' ? fact.hosts : []))
    return [
      ...folders.flatMap((folder) => reads.flatMap(({ text }) => permitPath('read', text, folder, permissions))),
      ...folders.flatMap((folder) =>
        [...names, ...trees, ...mentioned(command)].flatMap((word) => lookAt(word, folder, permissions)),
      ),
      ...folders.flatMap((folder) => written.flatMap((path) => permitPath('edit', path, folder, permissions))),
      ...folders.flatMap((folder) => removed.flatMap((path) => permitPath('remove', path, folder, permissions))),
      ...hosts.flatMap((host) => permitHost(host, permissions)),
      ...(stands ? judgeReach(command, folders, permissions) : []),
    ]
  })
  return opinions.filter(({ decision }) => decision !== 'allow')
}

/**
 * The arguments of a command whose effects aren't fully known, and the values of its options. The command may read the files that they name. So if
 * one of them must not be read, the command line is refused, even if no sandbox enforces the permissions and nobody is asked.
 */
function mentioned({ words, facts }: AnalysedCommand): readonly ShellWord[] {
  if (!facts.some(({ class: kind }) => kind === 'unknown' || kind === 'runs-code' || kind === 'network')) return []
  return words.slice(1).flatMap((word) => {
    const value = /^-[^=]*=(.+)$/s.exec(word.text)?.[1]
    return value === undefined ? [word] : [word, { ...word, text: value }]
  })
}

/** What the permissions say about a file or folder that the command line names without reading its contents. */
function lookAt(word: ShellWord, folder: string, permissions: Policy['permissions']): readonly Opinion[] {
  return word.kind === 'static' ? permitLook(word.text, folder, permissions) : []
}

/** Programs that remove or replace the files that their operands name. */
const removers = /^(?:rm|rmdir|unlink|mv|shred|truncate|srm|trash|trash-put|gio|rimraf|del)$/

/**
 * The files that a command may remove: the operands of the programs in `removers`, and those of `git` and `find` if the command deletes something.
 */
function removedPaths({ words, facts }: AnalysedCommand): readonly string[] {
  const [program, ...operands] = words.map(({ text }) => text)
  const name = program?.slice(program.lastIndexOf('/') + 1).toLowerCase() ?? ''
  const destroys = facts.some((fact) => fact.class === 'destructive')
  if (!removers.test(name) && !(destroys && (name === 'git' || name === 'find'))) return []
  return operands.filter((word) => !word.startsWith('-'))
}

/** The rules that cover a command or one of the commands that it may run. */
function findMatches(command: AnalysedCommand, rules: Policy['rules']): ReturnType<typeof matchRules> {
  const matches = matchRules(command, rules)
  return [...matches, ...findStarted(command, rules).map((rule) => ({ rule, certain: false }))]
}

function assessCommand(command: AnalysedCommand, action: ExecAction, policy: Policy): readonly Opinion[] {
  const text = excerpt(command.words.map((word) => word.text).join(' '))
  const matches = findMatches(command, policy.rules)
  const allowing = matches.find(({ rule }) => rule.decision === 'allow')?.rule
  const byRules = matches.map(({ rule, certain }): Opinion => {
    const label = describeRule(rule)
    if (rule.decision === 'allow')
      return {
        decision: 'allow',
        stage: 'rules',
        reason: rule.justification ?? `A rule allows \`${text}\`.`,
        rule: label,
      }
    const pattern = describePattern(rule)
    if (!certain) {
      return {
        decision: whereUnclear(rule, policy.mode),
        stage: 'rules',
        reason: `\`${text}\` may turn out to be \`${pattern}\`, which a rule restricts.`,
        rule: label,
      }
    }
    const decision = rule.decision === 'forbidden' ? 'deny' : 'ask'
    const verb = decision === 'deny' ? 'forbids' : 'requires approval for'
    return {
      decision,
      stage: 'rules',
      reason: rule.justification ?? `A rule ${verb} \`${pattern}\`, and this command runs \`${text}\`.`,
      rule: label,
    }
  })
  const byFact = (fact: Fact): Opinion => ({
    decision: answerForFact(policy.mode, action.sandbox, fact, policy.onView),
    stage: 'analysis',
    reason:
      fact.class === 'read-only' || text === '' ? sentence(describeFact(fact)) : `\`${text}\`: ${describeFact(fact)}.`,
  })
  return [
    ...byRules,
    ...command.alarms
      .filter((alarm) => !isOutOfView(alarm, command, action, policy))
      .map((alarm): Opinion => ({
        decision: answerForAlarm(policy.mode, action.sandbox, asKnown(alarm, policy)),
        stage: 'analysis',
        reason: `\`${text}\`: ${alarm.reason}.${alarm.kind === 'privilege' && action.sandbox !== 'danger-full-access' ? gainsNothing : ''}`,
      })),
    ...(allowing === undefined ? command.facts : [readOnly]).map(byFact),
    ...command.around.map(byFact),
  ]
}

function sentence(text: string): string {
  return `The command ${text}.`
}

const longestExcerpt = 300

/** Shortens a long text, because people and models read it as part of a reason. */
function excerpt(text: string): string {
  return text.length <= longestExcerpt ? text : `${text.slice(0, longestExcerpt)}…`
}

/** One of the commands in a command line, and what the rules and the approval mode say about it. */
export type JudgedCommand = { readonly command: AnalysedCommand; readonly opinion: Opinion | undefined }

/** Judges the commands of a command line one by one, in the same way as `assessExec`. */
export function judgeCommands(action: ExecAction, policy: Policy): readonly JudgedCommand[] {
  return analyse(action, policy).commands.map((command) => ({
    command,
    opinion: strictest(assessCommand(command, action, policy)),
  }))
}
