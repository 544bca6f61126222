import type { NamingWord } from './naming.ts'
import type { Place } from './place.ts'
import { Route, type Moves } from './route.ts'
import type { Command, CommandNode, CompoundList, ParsedScript, Statement } from './shell-syntax.ts'
import type { ShellWord } from './shell-word.ts'
import type { FileRedirection, SimpleCommand, StandardInput } from './simple-command.ts'
import { Variables } from './variables.ts'
import { Coverage } from './coverage.ts'
import { plainStages, walkChain, walkConditional, walkSelection, type BranchContext } from './walk-branches.ts'
import { Assignments } from './walk-assignments.ts'
import { expectSyntax, isQuoting } from './walk-syntax.ts'
import { checkTest, readCompared } from './walk-tests.ts'
import { variants } from './variants.ts'
import { readRedirections } from './walk-redirections.ts'
import { checkArithmetic, readWord } from './walk-words.ts'
import type { WordContext } from './word-context.ts'

const mostCommands = 500

const fromCaller: StandardInput = { from: 'caller' }
const nothing: SimpleCommand = { words: [], assignments: [], redirections: [], input: fromCaller }

/** A walk over the tree of a shell text. It handles an allow-list of node types: any other syntax is reported as a problem, and is never skipped. */
export class Walk {
  readonly commands: SimpleCommand[] = []
  readonly functions = new Set<string>()
  readonly problems = new Set<string>()
  readonly evaluations = new Set<string>()
  readonly coverage = new Coverage()
  readonly #context: WordContext
  readonly #variables: Variables
  readonly #assignments: Assignments
  readonly #place: Place
  readonly #route: Route
  /** Functions that are certainly defined at the current point of the walk. */
  readonly #defined = new Set<string>()
  /** Whether the next function definition is a statement at the top level. */
  #isPlain = false
  #inFunction = 0
  /** The number of enclosing loops that may run more than a few times. */
  #loops = 0
  /** The text to which positions in the tree refer. */
  #source: string

  constructor(text: string, variables: Variables, plainShell: boolean, place: Place, moves: Moves) {
    this.#source = text
    this.#place = place
    this.#route = new Route({ here: place.folders, before: [undefined], stack: [] }, moves)
    this.#variables = variables
    this.#context = {
      variables,
      place: () => this.#place.in(this.#route.here),
      plainShell,
      substitution: (script) =>
        script === undefined ? this.problem('a substitution could not be read') : this.substitution(script),
      assigns: (name) => this.add({ ...nothing, assignments: [{ name, value: undefined }] }),
      shows: (reveals) => this.add({ ...nothing, input: { from: 'text', text: undefined, reveals } }),
      problem: this.problem,
      evaluates: (reason) => void this.evaluations.add(reason),
      coverage: this.coverage,
    }
    this.#assignments = new Assignments(this.#context)
  }

  readonly problem = (reason: string): undefined => void this.problems.add(reason)

  /** Walks the whole text. A function is known from the end of its definition on, if the definition certainly runs. */
  whole(script: ParsedScript): void {
    this.#open(script, (statement) => {
      const { command } = statement
      if (command.type !== 'Function') return this.statement(statement, fromCaller)
      this.#isPlain = statement.background !== true
      this.statement(statement, fromCaller)
      if (command.name.text === command.name.value) this.#defined.add(command.name.value)
    })
  }

  script(script: ParsedScript, input = fromCaller): void {
    this.#open(script, (statement) => this.statement(statement, input))
  }

  #open(script: ParsedScript, each: (statement: Statement) => void): void {
    const outer = this.#source
    this.#source = script.source ?? outer
    for (const error of script.errors ?? []) this.problem(`the shell text does not parse: ${error.message}`)
    for (const statement of script.commands) each(statement)
    this.#source = outer
  }

  /** Walks a substitution. Returns the commands of its pipeline; undefined if it is anything but one pipeline of plain commands. */
  substitution(script: ParsedScript): readonly (readonly ShellWord[])[] | undefined {
    const before = this.commands.length
    this.#apart(() => this.script(script))
    return plainStages(script, this.commands.slice(before))
  }

  statement(statement: Statement, input: StandardInput): void {
    const { command } = statement
    this.#route.settle()
    if (statement.background !== true) return this.pipeline(command, input)
    this.coverage.expect('&')
    if (this.#loops > 0) this.problem('a loop starts commands in the background')
    this.#apart(() => this.pipeline(command, input))
  }

  #apart(walk: () => void): void {
    this.#route.apart(() => void this.#variables.apart(walk))
  }

  pipeline(node: Statement['command'], input: StandardInput): void {
    if (node.type === 'AndOr') {
      this.coverage.expect(...node.operators)
      walkChain(node, this.#branches(input))
    } else if (node.type === 'Pipeline') {
      this.coverage.expect(...node.operators, ...node.prefixes.map(({ type }) => (type === 'Time' ? 'time' : '!')))
      let stages: readonly (readonly ShellWord[])[] | undefined = input.from === 'caller' ? [] : undefined
      for (const [at, command] of node.commands.entries()) {
        const piped: StandardInput = stages === undefined ? { from: 'pipe' } : { from: 'pipe', stages }
        const before = this.commands.length
        const walk = (): void => this.command(command, at === 0 ? input : piped, [])
        // In a pipeline of several commands, each one runs in its own shell, so what it assigns doesn't last.
        if (node.commands.length === 1) walk()
        else this.#apart(walk)
        const [only, ...others] = this.commands.slice(before)
        const isSimple = command.type === 'Command' && others.length === 0 && only?.redirections.length === 0
        stages = isSimple && stages !== undefined ? [...stages, only.words] : undefined
      }
      if (node.prefixes.some(({ type }) => type !== 'Time')) this.#route.negate()
    } else this.command(node, input, [])
  }

  list(list: CompoundList, input: StandardInput): void {
    for (const statement of list.commands) this.statement(statement, input)
  }

  command(node: CommandNode | CompoundList, input: StandardInput, redirections: readonly FileRedirection[]): void {
    expectSyntax(node, this.#source, this.coverage)
    switch (node.type) {
      case 'Command':
        return this.simple(node, input)
      case 'Redirected': {
        const opened = readRedirections(node.redirects, input, this.#context)
        // The files are opened even if no command in the body runs.
        this.add({ words: [], assignments: [], redirections: opened.files, input: opened.input })
        // The body doesn't run if one of the files can't be opened.
        const { command } = node
        const body = (): void => this.command(command, opened.input, opened.files)
        return this.#route.maybe(() => void this.#variables.apart(body))
      }
      case 'If':
        return walkConditional(node, this.#branches(input))
      case 'While':
        return this.#again(node, () => {
          this.list(node.clause, input)
          this.list(node.body, input)
        })
      case 'For':
      case 'Select':
        if (node.type === 'Select') this.problem('select waits for someone to choose')
        return void this.#variables.apart(() => {
          const isShort = this.#assignments.loop(node.name, node.wordlist)
          this.#again(node, () => this.list(node.body, input), !isShort)
        })
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update])
          if (part !== undefined) checkArithmetic(part, this.#context)
        return this.#again(node, () => this.list(node.body, input))
      case 'Case':
        return walkSelection(node, this.#branches(input))
      case 'Subshell':
        return this.#apart(() => this.list(node.body, input))
      case 'BraceGroup':
        return this.list(node.body, input)
      case 'CompoundList':
        return this.list(node, input)
      case 'Function': {
        const { parts, value: name } = node.name
        if (parts !== undefined || !/^[A-Za-z_][\w-]*$/.test(name)) this.problem('a function with an unusual name')
        else this.functions.add(name)
        if (!this.#isPlain) this.problem('a function may or may not be defined')
        this.#isPlain = false
        // The body of a function may run at any time and with any input.
        this.#inFunction++
        const body = (): void => this.command(node.body, { from: 'pipe' }, redirections)
        this.#route.called(name, () => void this.#variables.apart(body))
        this.#inFunction--
        return
      }
      case 'Coproc':
        this.problem('coproc runs in parallel with the rest')
        return this.#apart(() => this.command(node.body, { from: 'pipe' }, redirections))
      case 'TestCommand':
        return checkTest(node.expression, this.#context)
      case 'ArithmeticCommand':
        return checkArithmetic(node.expression, this.#context)
      default:
        this.problem(`${(node satisfies never as { type: string }).type} is unknown syntax`)
    }
  }

  #again(node: unknown, walk: () => void, isLong = true): void {
    if (isLong) this.#loops++
    this.#route.again(node, () => void this.#variables.apart(walk))
    if (isLong) this.#loops--
  }

  #branches(input: StandardInput): BranchContext {
    return {
      variables: this.#variables,
      route: this.#route,
      list: (list) => this.list(list, input),
      pipeline: (node) => this.pipeline(node, input),
      compared: (word) => void readCompared(word, this.#context),
    }
  }

  simple(node: Command, input: StandardInput): void {
    // Nothing is assigned if the file of a redirection can't be opened, or if `local` is used outside of a function.
    const isLocal = node.name?.text === 'local'
    if (node.redirects.length === 0 && (!isLocal || this.#inFunction > 0)) return this.#bare(node, input)
    this.#variables.apart(() => this.#bare(node, input))
  }

  #bare(node: Command, input: StandardInput): void {
    const assignments = this.#assignments.readPrefix(node)
    const opened = readRedirections(node.redirects, input, this.#context)
    const named = [...(node.name === undefined ? [] : [node.name]), ...node.args].map((part): NamingWord => ({
      source: part.text,
      becomes: part.type === 'Assignment' ? [this.#assignments.readArgument(part)] : readWord(part, this.#context),
      isAssignment: part.type === 'Assignment',
    }))
    // A variable or a brace at the start may produce the program together with its first arguments.
    const indirect = node.name?.parts !== undefined && !node.name.parts.every(isQuoting)
    const before = this.commands.length
    const callsFunction = this.#defined.has(node.name?.text ?? '')
    for (const words of variants(named.flatMap(({ becomes }) => becomes))) {
      const command = { words, assignments, redirections: opened.files, input: opened.input }
      this.add({ ...command, ...(indirect ? { indirect } : {}), ...(callsFunction ? { callsFunction } : {}) })
    }
    if (this.#route.follow(this.commands.slice(before), this.#place, this.#variables)) this.#variables.moves = true
    this.#assignments.note(named)
  }

  add(command: SimpleCommand): void {
    if (this.commands.length < mostCommands) this.commands.push({ ...command, folders: this.#route.here })
    else this.problem(`more than ${mostCommands} commands in one text`)
  }
}
