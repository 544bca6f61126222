import { posix } from 'node:path'
import { effectOfVariable } from '../programs/environment.ts'
import { judgeFiles } from '../programs/judges.ts'
import type { Inner, Judgement } from '../programs/program.ts'
import { findProgram } from '../programs/tables.ts'
import { describeFact, unknown, worstClass, type Alarm, type CommandClass, type Fact } from './facts.ts'
import { literal, type ShellWord } from './shell-word.ts'
import type { SimpleCommand } from './simple-command.ts'
import { readScript } from './walk.ts'

/** One command that would run, judged. */
export type AnalysedCommand = {
  /** Program and arguments. Empty where the shell only assigns or opens files. */
  readonly words: readonly ShellWord[]
  /** The words without options in front of a subcommand, where the program has such. */
  readonly bare: readonly ShellWord[] | undefined
  /** What the program does. A rule that allows the command answers for these. */
  readonly facts: readonly Fact[]
  /** What the shell does around it: files it opens, variables it sets. No rule about the command answers for these. */
  readonly around: readonly Fact[]
  readonly alarms: readonly Alarm[]
  /** Files it reads, so far as they can be named. */
  readonly reads: readonly ShellWord[]
  /** Why it may run commands that aren't listed. */
  readonly opaque: string | undefined
  /** No table knows the program, so it may run its arguments as a command. */
  readonly unlisted: boolean
}

/** What a command line would do, as far as it can be known without running it. */
export type CommandAnalysis = {
  readonly class: CommandClass
  readonly commands: readonly AnalysedCommand[]
  /** Why the list of commands may not be all of them. With one of these the class is `unknown`. */
  readonly problems: readonly string[]
  /** Where text held as data is evaluated, which runs what may be hidden in it. With one the class is `unknown`. */
  readonly evaluations: readonly string[]
}

/** Beyond this a command line isn't read at all. */
const longestCommand = 64 * 1024
const deepest = 12
const mostCommands = 5_000
const mostNested = 1_000

/**
 * Reads what an argument vector would run: the command itself, and every command inside it when it is a shell with
 * a text, a wrapper such as `env` or `timeout`, or a program that starts others. Nothing is run and no file is read.
 * `cwd` tells whether a folder that the line changes to is below the working one.
 */
export function analyseCommand(argv: readonly string[], cwd = '/'): CommandAnalysis {
  const length = argv.reduce((sum, word) => sum + word.length + 1, 0)
  if (length > longestCommand) {
    return unreadable(`the command line has ${length} characters, more than the ${longestCommand} that are read`)
  }
  if (argv.length === 0 || argv[0] === '') return unreadable('there is no program to run')
  const analysis = new Analysis()
  analysis.command({ words: argv.map(literal), assignments: [], redirections: [], input: { from: 'caller' } }, 0)
  const commands = markRepositories(analysis.commands, cwd)
  const facts = commands.flatMap((command) => [...command.facts, ...command.around])
  const [problems, evaluations] = [[...analysis.problems], [...analysis.evaluations]]
  const isClear = problems.length === 0 && evaluations.length === 0
  return { class: isClear ? worstClass(facts) : 'unknown', commands, problems, evaluations }
}

/** After a change to a folder elsewhere, git works on the repository there, whose configuration can run programs. */
function markRepositories(commands: readonly AnalysedCommand[], cwd: string): readonly AnalysedCommand[] {
  const leaves = commands.some(({ words: [program, ...args] }) => {
    if (program?.kind !== 'static' || !/^(?:cd|pushd)$/.test(program.text)) return false
    const target = args.find(({ text }) => !/^-[A-Za-z]$/.test(text))
    return target === undefined || target.kind !== 'static' || !isBelow(target.text, cwd)
  })
  if (!leaves) return commands
  const reason = 'git works on the repository of the folder that the line changes to'
  return commands.map((command) =>
    command.bare === undefined
      ? command
      : { ...command, alarms: [...command.alarms, { kind: 'other-repository', reason } as const] },
  )
}

function isBelow(path: string, cwd: string): boolean {
  if (/^[~-]/.test(path)) return false
  const way = posix.relative(cwd, posix.resolve(cwd, path))
  return way !== '..' && !way.startsWith('../')
}

/** The analysis of one shell text, as `bash -c` would run it. */
export function analyseScript(text: string): CommandAnalysis {
  return analyseCommand(['bash', '-c', text])
}

/** All reasons why a command isn't read-only, in words. */
export function describeAnalysis(analysis: CommandAnalysis): readonly string[] {
  const facts = analysis.commands.flatMap(({ facts, around }) => [...facts, ...around])
  const reasons = facts.filter((fact) => fact.class !== 'read-only').map(describeFact)
  const alarms = analysis.commands.flatMap(({ alarms }) => alarms.map(({ reason }) => reason))
  return [...new Set([...analysis.problems, ...analysis.evaluations, ...alarms, ...reasons])]
}

function unreadable(problem: string): CommandAnalysis {
  return { class: 'unknown', commands: [], problems: [problem], evaluations: [] }
}

// Control and format characters make a line look other than it is; beyond tab and newline none has a use in a command.
const deceptive =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|\u{e0001}|[\u{e0020}-\u{e007f}]/u

class Analysis {
  readonly commands: AnalysedCommand[] = []
  readonly problems = new Set<string>()
  readonly evaluations = new Set<string>()

  command(command: SimpleCommand, depth: number, functions: ReadonlySet<string> = new Set()): void {
    if (depth > deepest) return void this.problems.add('commands are nested too deeply')
    if (this.commands.length >= mostCommands) return void this.problems.add('too many commands')
    if (command.words.some(({ text }) => deceptive.test(text))) {
      this.problems.add('it has control or formatting characters that hide what it says')
    }
    const around = judgeSurroundings(command)
    const judged = judgeWords(command, functions)
    this.commands.push({
      words: command.words,
      bare: judged.bare,
      reads: [...(around.reads ?? []), ...(judged.reads ?? [])],
      opaque: judged.opaque,
      unlisted: judged.unlisted ?? false,
      facts: judged.facts,
      around: around.facts,
      alarms: [...(around.alarms ?? []), ...(judged.alarms ?? [])],
    })
    for (const inner of judged.runs ?? []) this.inner(inner, command, depth + 1, functions)
  }

  inner(inner: Inner, outer: SimpleCommand, depth: number, functions: ReadonlySet<string>): void {
    if (inner.kind === 'command') {
      const { words, assignments = [], input = outer.input } = inner
      return this.command({ words, assignments, redirections: [], input }, depth, functions)
    }
    const nested = inner.text.match(/\$\(|[<>]\(|`|\(\(/g)?.length ?? 0
    if (nested > mostNested) return void this.problems.add(`it has ${nested} substitutions, more than are followed`)
    const script = readScript(inner.text, inner.shell)
    for (const problem of script.problems) this.problems.add(problem)
    for (const evaluation of script.evaluations) this.evaluations.add(evaluation)
    if (depth > deepest) return void this.problems.add('commands are nested too deeply')
    for (const command of script.commands) {
      const input = command.input.from === 'caller' ? outer.input : command.input
      this.command({ ...command, input }, depth + 1, script.functions)
    }
  }
}

/** Folders whose programs are the system's own; a path elsewhere names a file that anyone may have written. */
const systemFolders = new Set(['/bin', '/usr/bin', '/usr/local/bin', '/sbin', '/usr/sbin', '/opt/homebrew/bin'])

function judgeWords(command: SimpleCommand, functions: ReadonlySet<string>): Judgement {
  const [program, ...args] = command.words
  if (program === undefined) return { facts: [] }
  if (program.kind !== 'static')
    return { facts: [unknown(`which program ${program.text} is is known only when it runs`)] }
  const name = program.text
  if (functions.has(name)) return { facts: [] }
  const base = posix.basename(name)
  if (name.includes('/') && !systemFolders.has(posix.dirname(name))) {
    return { facts: [{ class: 'runs-code', reason: `runs the file ${name}` }] }
  }
  const row = findProgram(base)
  if (row === undefined) return { facts: [unknown(`${name} is not a program known here`)], unlisted: true }
  const judged = row.judge(args, { input: command.input })
  const bare = judged.bare === undefined ? {} : { bare: [program, ...judged.bare] }
  const unclear = command.indirect === true ? [unknown(`a variable decides that ${name} runs`)] : []
  return { ...judged, ...bare, facts: [...judged.facts, ...unclear] }
}

/** Files that cost nothing to write to. */
const sinks = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty'])

function judgeSurroundings({ assignments, redirections, input, words }: SimpleCommand): Judgement {
  const facts: Fact[] = []
  const alarms: Alarm[] = []
  if (input.from === 'text' && input.reveals !== undefined)
    facts.push(unknown(`${input.reveals} may hold a secret of the environment`))
  for (const { name, value } of assignments) {
    const effect = effectOfVariable(name, value?.kind === 'static' ? value.text : undefined, words.length > 0)
    if (effect === 'dangerous')
      alarms.push({ kind: 'environment', reason: `${name}= changes what runs or where it looks` })
    if (effect === 'unknown') facts.push(unknown(`what ${name}= does to the command is not known`))
  }
  for (const { access, target } of redirections) {
    const socket = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(target.text)
    if (socket !== null) facts.push({ class: 'network', hosts: [socket[1] ?? ''] })
    else if (access === 'write') {
      if (target.kind !== 'static' || !sinks.has(target.text)) facts.push({ class: 'writes', paths: [target.text] })
    } else {
      const judged = judgeFiles([target])
      facts.push(...judged.facts)
      alarms.push(...(judged.alarms ?? []))
    }
  }
  return { facts, alarms, reads: redirections.filter(({ access }) => access === 'read').map(({ target }) => target) }
}
