import type { Inner } from '../programs/program-table.ts'
import { alarmsAt } from './folders.ts'
import { Place, type Grounds } from './place.ts'
import { judgeAround } from './judge-around.ts'
import { judgeWords } from './judge-words.ts'
import { findProgram } from '../programs/program-tables.ts'
import { worstClass, type Alarm, type CommandClass, type Fact } from './facts.ts'
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
  /** The folders in which the command may run: absolute, or from `~`. Undefined stands for a folder that can't be known. */
  readonly folders: readonly (string | undefined)[]
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
/** The maximum number of paths that are judged again because the command line changes to another folder, and of their characters. */
const mostPaths = 5_000
const mostPathText = 256 * 1024

/**
 * Analyses what an argument vector would run: the command itself, and every command inside it if it is a shell that is given a script, a wrapper such
 * as `env` or `timeout`, or another program that starts commands. Nothing is run and no file is read. `cwd` is the folder in which the command would
 * run, and `grounds` says what belongs to the run; by default only `cwd`.
 *
 * @example console.log(analyseCommand(['rm', '-r', 'build']).class) // destructive
 */
export function analyseCommand(
  argv: readonly string[],
  cwd = '/',
  grounds: Grounds = { workspace: cwd, roots: [] },
): CommandAnalysis {
  const length = argv.reduce((sum, word) => sum + word.length + 1, 0)
  if (length > longestCommand) {
    return unreadable(`the command line has ${length} characters, more than the limit of ${longestCommand}`)
  }
  if (argv.length === 0 || argv[0] === '') return unreadable('there is no program to run')
  const analysis = new Analysis(Place.at(cwd, grounds))
  try {
    analysis.command(
      { words: argv.map(literal), assignments: [], redirections: [], input: { from: 'caller' } },
      analysis.start,
      0,
    )
  } catch {
    // Any failure means that the command isn't understood.
    return unreadable('its analysis failed')
  }
  const { commands } = analysis
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
  readonly start: Place
  #words = 0
  #text = 0
  #paths = 0
  #pathText = 0

  constructor(start: Place) {
    this.start = start
  }

  command(command: SimpleCommand, outer: Place, depth: number): void {
    if (depth > deepest) return void this.problems.add('commands are nested too deeply')
    if (this.commands.length >= mostCommands) return void this.problems.add('too many commands')
    this.#words += command.words.length + command.assignments.length
    if (this.#words > mostWords) return void this.problems.add(`it has more than ${mostWords} words`)
    if (this.exceeds(command.words.reduce((sum, { text }) => sum + text.length, 0))) return
    if (command.words.some(({ text }) => deceptive.test(text))) {
      this.problems.add('it has control or formatting characters that hide what it says')
    }
    const place = this.#placeOf(command, outer)
    const around = judgeAround(command, place)
    const judged = judgeWords(command, place)
    const reads = [...(around.reads ?? []), ...(judged.reads ?? [])]
    this.commands.push({
      words: command.words,
      bare: judged.bare,
      folders: place.folders.map((folder) => place.absolute(folder)),
      reads,
      names: judged.names ?? [],
      trees: judged.trees ?? [],
      opaque: judged.opaque,
      unlisted: judged.unlisted ?? false,
      texts: givenTexts(command),
      facts: judged.facts,
      around: around.facts,
      alarms: [
        ...(around.alarms ?? []),
        ...(judged.alarms ?? []),
        ...alarmsAt(place, this.start, { ...judged, reads }),
      ],
    })
    for (const inner of judged.runs ?? []) this.inner(inner, command, place, depth + 1)
  }

  /** Where a command runs. If it names too many paths to judge them in each of its folders, its folder counts as unknown. */
  #placeOf({ folders, words, redirections }: SimpleCommand, outer: Place): Place {
    const place = folders === undefined ? outer : outer.in(folders)
    const others = place.folders.filter((folder): folder is string => folder !== undefined && folder !== '')
    const length = words.reduce((sum, { text }) => sum + text.length, 0)
    const before = others.reduce((sum, folder) => sum + folder.length, 0)
    this.#paths += others.length * (words.length + redirections.length)
    this.#pathText += length * others.length + before * words.length
    return this.#paths > mostPaths || this.#pathText > mostPathText ? place.in([undefined]) : place
  }

  /** Adds to the amount of text that was judged, and returns whether this amount now exceeds the limit. */
  exceeds(length: number): boolean {
    this.#text += length
    if (this.#text <= mostText) return false
    this.problems.add(`its words and scripts have more than ${mostText} characters in total, with variables expanded`)
    return true
  }

  inner(inner: Inner, outer: SimpleCommand, place: Place, depth: number): void {
    if (inner.kind === 'command') {
      const { words, assignments = [], input = outer.input } = inner
      return this.command({ words, assignments, redirections: [], input }, place, depth)
    }
    if (this.exceeds(inner.text.length)) return
    const nested = inner.text.match(/\$\(|[<>]\(|`|\(\(/g)?.length ?? 0
    if (nested > mostNested) return void this.problems.add(`it has ${nested} substitutions, too many to be analysed`)
    const script = readScript(inner.text, inner.shell, place)
    for (const problem of script.problems) this.problems.add(problem)
    for (const evaluation of script.evaluations) this.evaluations.add(evaluation)
    if (depth > deepest) return void this.problems.add('commands are nested too deeply')
    this.functions(script)
    for (const command of script.commands) {
      const input = command.input.from === 'caller' ? outer.input : command.input
      this.command({ ...command, input }, place, depth + 1)
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
