import { posix } from 'node:path'
import { effectOfVariable } from '../programs/environment-variables.ts'
import { judgeFiles, judgeTexts } from '../programs/judges.ts'
import type { Inner, Judgement } from '../programs/program-table.ts'
import { followFolders } from './folders.ts'
import { originOfListed } from './file-lists.ts'
import { dataLossOf } from '../programs/data-loss.ts'
import { findProgram } from '../programs/program-tables.ts'
import { unknown, worstClass, type Alarm, type CommandClass, type Fact } from './facts.ts'
import { literal, type ShellWord } from './shell-word.ts'
import type { ShellScript, SimpleCommand } from './simple-command.ts'
import { readScript } from './read-script.ts'

/** One command that would run, and what it would do. */
export type AnalysedCommand = {
  /** Program and arguments. Empty if the shell only assigns variables or opens files. */
  readonly words: readonly ShellWord[]
  /** The words without the options that precede the subcommand: `git push` for `git -C dir push`. Set only for git. */
  readonly bare: readonly ShellWord[] | undefined
  /** What the program does. A rule that allows the command also allows these effects. */
  readonly facts: readonly Fact[]
  /** The effects of redirections and variable assignments, which the shell performs for the command. Rules about the command don't cover them. */
  readonly around: readonly Fact[]
  readonly alarms: readonly Alarm[]
  /** The files that the command reads, as far as they are known. */
  readonly reads: readonly ShellWord[]
  /** Files of which the command reads only the names or metadata, not the contents. The folders that it traverses are in `trees`. */
  readonly names: readonly ShellWord[]
  readonly trees: readonly ShellWord[]
  /** The reason why the command may run commands that aren't listed; undefined if there is no such reason. */
  readonly opaque: string | undefined
  /** Whether the program is missing from all tables. It may then run its arguments as a command. */
  readonly unlisted: boolean
  /** Texts that the command gets from variables or its standard input instead of its arguments. If the command runs code, each text may be code. */
  readonly texts: readonly string[]
}

/** What a command line would do, as far as it can be known without running it. */
export type CommandAnalysis = {
  readonly class: CommandClass
  readonly commands: readonly AnalysedCommand[]
  /** The reasons why the list of commands may be incomplete. If there are any, the class is `unknown`. */
  readonly problems: readonly string[]
  /** The places where the shell evaluates data as code, which runs any commands in the data. If there are any, the class is `unknown`. */
  readonly evaluations: readonly string[]
}

/** The maximum length of a command line, in characters. A longer one isn't analysed at all. */
const longestCommand = 64 * 1024
const deepest = 12
const mostCommands = 1_000
/** The maximum number of words in all commands together. The words of a command count again each time the command is judged. */
const mostWords = 3_000
/** The maximum length of all words and scripts together, in characters. There is a limit because a long variable may be used in many places. */
const mostText = 3 * longestCommand
const mostNested = 1_000

/**
 * Analyses what an argument vector would run: the command itself, and every command inside it if it is a shell that is given a script, a wrapper such
 * as `env` or `timeout`, or another program that starts commands. Nothing is run and no file is read. `cwd` is the folder in which the command would
 * run. It determines which files are in the workspace, whether the line changes to a different folder, and whether `$PWD` may contain blanks.
 *
 * @example console.log(analyseCommand(['rm', '-r', 'build']).class) // destructive
 */
export function analyseCommand(argv: readonly string[], cwd = '/'): CommandAnalysis {
  const length = argv.reduce((sum, word) => sum + word.length + 1, 0)
  if (length > longestCommand) {
    return unreadable(`the command line has ${length} characters, more than the limit of ${longestCommand}`)
  }
  if (argv.length === 0 || argv[0] === '') return unreadable('there is no program to run')
  const analysis = new Analysis(cwd)
  try {
    analysis.command({ words: argv.map(literal), assignments: [], redirections: [], input: { from: 'caller' } }, 0)
  } catch {
    // Any failure means that the command isn't understood.
    return unreadable('its analysis failed')
  }
  const commands = followFolders(analysis.commands, cwd)
  const facts = commands.flatMap((command) => [...command.facts, ...command.around])
  const [problems, evaluations] = [[...analysis.problems], [...analysis.evaluations]]
  const isClear = problems.length === 0 && evaluations.length === 0
  return { class: isClear ? worstClass(facts) : 'unknown', commands, problems, evaluations }
}

/**
 * Analyses a shell text as `bash -c` would run it.
 *
 * @example console.log(analyseScript('ls | head -1').class) // read-only
 */
export const analyseScript = (text: string): CommandAnalysis => analyseCommand(['bash', '-c', text])

function unreadable(problem: string): CommandAnalysis {
  return { class: 'unknown', commands: [], problems: [problem], evaluations: [] }
}

// Control and format characters (except tab and newline) and unpaired high surrogates, which make a command line look different from what it is.
const deceptive =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|\u{e0001}|[\u{e0020}-\u{e007f}]/u

class Analysis {
  readonly commands: AnalysedCommand[] = []
  readonly problems = new Set<string>()
  readonly evaluations = new Set<string>()
  readonly #cwd: string
  #words = 0
  #text = 0

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  command(command: SimpleCommand, depth: number): void {
    if (depth > deepest) return void this.problems.add('commands are nested too deeply')
    if (this.commands.length >= mostCommands) return void this.problems.add('too many commands')
    this.#words += command.words.length + command.assignments.length
    if (this.#words > mostWords) return void this.problems.add(`it has more than ${mostWords} words`)
    if (this.exceeds(command.words.reduce((sum, { text }) => sum + text.length, 0))) return
    if (command.words.some(({ text }) => deceptive.test(text))) {
      this.problems.add('it has control or formatting characters that hide what it says')
    }
    const around = judgeAssignmentsAndRedirections(command)
    const judged = judgeWords(command)
    this.commands.push({
      words: command.words,
      bare: judged.bare,
      reads: [...(around.reads ?? []), ...(judged.reads ?? [])],
      names: judged.names ?? [],
      trees: judged.trees ?? [],
      opaque: judged.opaque,
      unlisted: judged.unlisted ?? false,
      texts: givenTexts(command),
      facts: judged.facts,
      around: around.facts,
      alarms: [...(around.alarms ?? []), ...(judged.alarms ?? [])],
    })
    for (const inner of judged.runs ?? []) this.inner(inner, command, depth + 1)
  }

  /** Adds to the amount of text that was judged, and returns whether this amount now exceeds the limit. */
  exceeds(length: number): boolean {
    this.#text += length
    if (this.#text <= mostText) return false
    this.problems.add(`its words and scripts have more than ${mostText} characters in total, with variables expanded`)
    return true
  }

  inner(inner: Inner, outer: SimpleCommand, depth: number): void {
    if (inner.kind === 'command') {
      const { words, assignments = [], input = outer.input } = inner
      return this.command({ words, assignments, redirections: [], input }, depth)
    }
    if (this.exceeds(inner.text.length)) return
    const nested = inner.text.match(/\$\(|[<>]\(|`|\(\(/g)?.length ?? 0
    if (nested > mostNested) return void this.problems.add(`it has ${nested} substitutions, too many to be analysed`)
    const script = readScript(inner.text, inner.shell, this.#cwd)
    for (const problem of script.problems) this.problems.add(problem)
    for (const evaluation of script.evaluations) this.evaluations.add(evaluation)
    if (depth > deepest) return void this.problems.add('commands are nested too deeply')
    this.functions(script)
    for (const command of script.commands) {
      const input = command.input.from === 'caller' ? outer.input : command.input
      this.command({ ...command, input }, depth + 1)
    }
  }

  /**
   * Adds a problem if a function has the name of a known program, or if `unset` may remove a function, because then it is unclear what the name runs.
   */
  functions({ functions, commands }: ShellScript): void {
    if (functions.size === 0) return
    const taken = [...functions].find((name) => findProgram(name) !== undefined)
    if (taken !== undefined) this.problems.add(`${taken} may mean a function in one place and a program in another`)
    if (commands.some(({ words }) => words.some(({ text }) => text === 'unset')))
      this.problems.add('unset may remove a function')
  }
}

/** The texts that a command gets from variables, and, if it has only options as arguments, from its standard input. */
function givenTexts({ words, assignments, input }: SimpleCommand): readonly string[] {
  const values = assignments.flatMap(({ name, value }) =>
    value === undefined ? [] : [/^GIT_CONFIG_/.test(name) ? `${name}=${value.text}` : value.text],
  )
  if (words.slice(1).some(({ text }) => !text.startsWith('-'))) return values
  if (input.from === 'text') return [...values, input.text ?? '']
  const stages = input.from === 'pipe' ? (input.stages ?? []) : []
  const said = stages.filter(([program]) => /^(?:echo|printf)$/.test(program?.text ?? ''))
  return [...values, ...said.map((stage) => stage.map(({ text }) => text).join(' '))]
}

/** Returns a word, with `from` set if the word stands for a list of files. The value of `from` depends on the program that receives the word. */
function originOf(word: ShellWord, program: ShellWord | undefined): ShellWord {
  if (word.kind !== 'dynamic' || word.listed === undefined) return word
  return { ...word, from: originOfListed(word.listed, program?.text) }
}

/** The folders of the system's own programs. A program in any other folder may have been written by anyone. */
const systemFolders = new Set(['/bin', '/usr/bin', '/usr/local/bin', '/sbin', '/usr/sbin', '/opt/homebrew/bin'])

function judgeWords(command: SimpleCommand): Judgement {
  const [program, ...args] = command.words.map((word) => originOf(word, command.words[0]))
  if (program === undefined) return { facts: [] }
  if (program.kind !== 'static')
    return { facts: [unknown(`the program that ${program.text} refers to is known only when the command runs`)] }
  const name = program.text
  // The arguments of a function become `$1` and so on in its commands, which are judged separately.
  if (command.callsFunction === true) return judgeTexts(args)
  const base = posix.basename(name)
  if (name.includes('/') && !systemFolders.has(posix.dirname(name))) {
    return { facts: [{ class: 'runs-code', reason: `runs the file ${name}` }] }
  }
  const row = findProgram(base)
  const lost = dataLossOf(base, args)
  if (row === undefined) return { facts: [unknown(`${name} is not a known program`), ...lost], unlisted: true }
  const judged = row.judge(args, { input: command.input })
  const bare = judged.bare === undefined ? {} : { bare: [program, ...judged.bare] }
  const unclear = command.indirect === true ? [unknown(`the name of the program ${name} comes from a variable`)] : []
  return { ...judged, ...bare, facts: [...judged.facts, ...lost, ...unclear] }
}

/** Files that are safe to write to. */
const sinks = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty'])

function judgeAssignmentsAndRedirections({ assignments, redirections, input, words }: SimpleCommand): Judgement {
  const facts: Fact[] = []
  const alarms: Alarm[] = []
  if (input.from === 'text' && input.reveals !== undefined)
    facts.push(unknown(`${input.reveals} may hold a secret from the environment`))
  for (const { name, value } of assignments) {
    // An assignment to `IFS` in front of `read` is harmless: it affects only how this one call splits its line.
    if (name === 'IFS' && words[0]?.kind === 'static' && words[0].text === 'read') continue
    const effect = effectOfVariable(name, value?.kind === 'static' ? value.text : undefined, words.length > 0)
    if (effect === 'dangerous') alarms.push({ kind: 'environment', reason: `${name}= can change which code runs` })
    if (effect === 'unknown') facts.push(unknown(`the effect of ${name}= on the command is not known`))
    if (words.length > 0 && value?.kind === 'dynamic' && value.from === 'environment')
      facts.push(unknown(`${name}= may pass on a secret from the environment`))
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
