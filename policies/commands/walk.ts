import { parseShell } from './shell-syntax.ts'
import type {
  Assignment,
  Command,
  CommandNode,
  CompoundList,
  ParsedScript,
  Statement,
  Word,
  WordPart,
} from './shell-syntax.ts'
import type { ShellWord, WordChoice } from './shell-word.ts'
import type { FileRedirection, ShellAssignment, ShellScript, SimpleCommand, StandardInput } from './simple-command.ts'
import { Variables } from './variables.ts'
import { checkTest } from './walk-tests.ts'
import { choicesOf, unclear, variants } from './variants.ts'
import { readRedirections } from './walk-redirections.ts'
import { checkArithmetic, readWord, type WordContext } from './walk-words.ts'

const mostCommands = 2_000

/**
 * Reads a shell text: every simple command in it, wherever it stands. What the text does that isn't understood is
 * said in `problems`; with one problem the list can't be taken as whole.
 *
 * Node types are an allow-list: a kind of syntax that isn't named here is a problem, never skipped.
 */
export function readScript(text: string, shell: 'bash' | 'sh'): ShellScript {
  const variables = new Variables()
  const parsed = parseShell(text)
  // What a loop assigns at its end is there at its start, so a first walk only gathers the variables.
  if (/=|\b(?:for|select|read)\b/.test(text)) new Walk(text, variables, shell === 'sh').script(parsed)
  const walk = new Walk(text, variables, shell === 'sh')
  walk.script(parsed)
  return {
    commands: walk.commands,
    functions: walk.functions,
    problems: [...walk.problems],
    evaluations: [...walk.evaluations],
  }
}

/** Built-ins that give values to the names they are told. */
const naming = new Set(['read', 'mapfile', 'readarray', 'getopts', 'printf', 'unset', 'wait', 'let'])

const fromCaller: StandardInput = { from: 'caller' }

class Walk {
  readonly commands: SimpleCommand[] = []
  readonly functions = new Set<string>()
  readonly problems = new Set<string>()
  readonly evaluations = new Set<string>()
  readonly #context: WordContext
  readonly #variables: Variables
  /** The text that positions in the tree count from. */
  #source: string

  constructor(text: string, variables: Variables, plainShell: boolean) {
    this.#source = text
    this.#variables = variables
    this.#context = {
      variables,
      plainShell,
      substitution: (script) => {
        if (script === undefined) this.problem('a substitution could not be read')
        else this.script(script)
      },
      problem: (reason) => this.problem(reason),
      evaluates: (reason) => void this.evaluations.add(reason),
    }
  }

  problem(reason: string): void {
    this.problems.add(reason)
  }

  script(script: ParsedScript, input = fromCaller): void {
    const outer = this.#source
    this.#source = script.source ?? outer
    for (const error of script.errors ?? []) this.problem(`the shell text does not parse: ${error.message}`)
    for (const statement of script.commands) this.statement(statement, input)
    this.#source = outer
  }

  statement(statement: Statement, input: StandardInput): void {
    // The parser drops what it can't place, such as a stray parenthesis.
    const after = /(?:[ \t]|\\\n)*/y
    after.lastIndex = statement.end
    after.test(this.#source)
    if (!/^[\n;&|)}`#]?$/.test(this.#source.charAt(after.lastIndex))) {
      this.problem('something after a command is not understood')
    }
    const { command } = statement
    if (command.type === 'AndOr') for (const part of command.commands) this.pipeline(part, input)
    else this.pipeline(command, input)
  }

  pipeline(node: Statement['command'], input: StandardInput): void {
    if (node.type === 'AndOr') for (const part of node.commands) this.pipeline(part, input)
    else if (node.type === 'Pipeline') {
      let stages: readonly (readonly ShellWord[])[] | undefined = input.from === 'caller' ? [] : undefined
      for (const [at, command] of node.commands.entries()) {
        const piped: StandardInput = stages === undefined ? { from: 'pipe' } : { from: 'pipe', stages }
        const before = this.commands.length
        this.command(command, at === 0 ? input : piped, [])
        const [only, ...others] = this.commands.slice(before)
        const isSimple = command.type === 'Command' && others.length === 0 && only?.redirections.length === 0
        stages = isSimple && stages !== undefined ? [...stages, only.words] : undefined
      }
    } else this.command(node, input, [])
  }

  list(list: CompoundList, input: StandardInput): void {
    for (const statement of list.commands) this.statement(statement, input)
  }

  command(node: CommandNode | CompoundList, input: StandardInput, redirections: readonly FileRedirection[]): void {
    switch (node.type) {
      case 'Command':
        return this.simple(node, input)
      case 'Redirected': {
        const opened = readRedirections(node.redirects, input, this.#context)
        // The files are opened even where the body runs nothing.
        this.add({ words: [], assignments: [], redirections: opened.files, input: opened.input })
        return this.command(node.command, opened.input, opened.files)
      }
      case 'If':
        this.list(node.clause, input)
        this.list(node.then, input)
        for (const branch of node.elif) {
          this.list(branch.clause, input)
          this.list(branch.then, input)
        }
        if (node.else !== undefined) this.list(node.else, input)
        return
      case 'While':
        this.list(node.clause, input)
        return this.list(node.body, input)
      case 'For':
        this.loop(node.name, node.wordlist)
        return this.list(node.body, input)
      case 'Select':
        this.loop(node.name, node.wordlist)
        this.problem('select waits for someone to choose')
        return this.list(node.body, input)
      case 'ArithmeticFor':
        if (this.#context.plainShell) this.problem('a plain sh has no arithmetic for')
        for (const part of [node.initialize, node.test, node.update]) {
          if (part !== undefined) checkArithmetic(part, this.#context)
        }
        return this.list(node.body, input)
      case 'Case':
        this.words(node.word)
        for (const item of node.items) {
          for (const pattern of item.pattern) this.words(pattern)
          this.list(item.body, input)
        }
        return
      case 'Subshell':
      case 'BraceGroup':
        return this.list(node.body, input)
      case 'CompoundList':
        return this.list(node, input)
      case 'Function': {
        const name = node.name.parts === undefined ? node.name.value : undefined
        if (name === undefined || !/^[A-Za-z_][\w-]*$/.test(name)) this.problem('a function with an unusual name')
        else this.functions.add(name)
        // A body may run with any input, at any time.
        return this.command(node.body, { from: 'pipe' }, redirections)
      }
      case 'Coproc':
        this.problem('coproc runs beside the rest')
        return this.command(node.body, { from: 'pipe' }, redirections)
      case 'TestCommand':
        if (this.#context.plainShell) this.problem('a plain sh has no [[')
        return checkTest(node.expression, this.#context)
      case 'ArithmeticCommand':
        if (this.#context.plainShell) this.problem('a plain sh has no ((')
        return checkArithmetic(node.expression, this.#context)
      default:
        this.problem(`${(node satisfies never as { type: string }).type} is syntax not known here`)
    }
  }

  loop(name: Word, wordlist: readonly Word[] | undefined): void {
    this.add({
      words: [],
      assignments: [{ name: name.value, value: undefined }],
      redirections: [],
      input: fromCaller,
    })
    const words = wordlist?.flatMap((word) => this.words(word))
    if (words === undefined || words.length === 0) this.#variables.assign(name.value, undefined)
    for (const word of words ?? []) this.#assign(name.value, word)
  }

  simple(node: Command, input: StandardInput): void {
    const assignments = node.prefix.filter((part) => part.type === 'Assignment').map((part) => this.assignment(part))
    const opened = readRedirections(node.redirects, input, this.#context)
    const name = node.name === undefined ? [] : this.words(node.name)
    const suffix = node.args.flatMap((part): readonly (ShellWord | WordChoice)[] =>
      part.type === 'Assignment' ? [this.argumentAssignment(part)] : this.words(part),
    )
    // A variable or a brace in front may be the program together with its first arguments.
    const indirect = node.name?.parts !== undefined && !node.name.parts.every(isQuoting)
    for (const words of variants([...name, ...suffix])) {
      const command = { words, assignments, redirections: opened.files, input: opened.input }
      this.add(indirect ? { ...command, indirect } : command)
    }
    this.noteNames(node)
    this.noteGaps(node)
  }

  /** Whatever may set a variable without being an assignment: then its value is not known. */
  noteNames(node: Command): void {
    const words = [node.name, ...node.args].flatMap((part) => (part?.type === 'Word' ? [part.value] : []))
    const fills = words.some((word) => naming.has(word))
    for (const word of words) {
      const name = /^([A-Za-z_]\w*)(\+?=)?/.exec(word)
      if (name?.[1] === undefined) continue
      if (name[2] !== undefined || (fills && name[0] === word)) this.#variables.assign(name[1], undefined)
    }
    if (words.includes('read')) this.#variables.assign('REPLY', undefined)
  }

  /** The parser drops what it can't place; between the words of a command there must be nothing but space. */
  noteGaps(node: Command): void {
    const parts = [...node.prefix, ...(node.name === undefined ? [] : [node.name]), ...node.suffix]
    const sorted = parts.toSorted((a, b) => a.pos - b.pos)
    for (const [at, part] of sorted.entries()) {
      const before = sorted[at - 1]
      if (before !== undefined && !/^(?:[ \t]|\\\n)*$/.test(this.#source.slice(before.end, part.pos))) {
        this.problem('something between the words of a command is not understood')
      }
    }
  }

  assignment(node: Assignment): ShellAssignment {
    const { name, value } = node
    if (node.index !== undefined) this.subscript(node)
    if (value.type === 'ArrayValue') {
      for (const element of value.elements) for (const word of this.words(element)) this.#assign(name, word)
      this.#variables.assign(name, undefined)
      return { name, value: undefined }
    }
    const [word] = this.words(value)
    if (node.append === true) this.#variables.assign(name, undefined)
    else this.#assign(name, word)
    return { name, value: word?.kind === 'either' ? unclear(word.text) : word }
  }

  /** `export A=b`: an assignment that is also the word `A=b` to the command. */
  argumentAssignment(node: Assignment): ShellWord {
    const { name, value } = this.assignment(node)
    if (value === undefined || value.kind === 'dynamic') {
      return { kind: 'dynamic', text: node.text, prefix: `${name}=`, single: true, from: value?.from ?? 'commands' }
    }
    return { kind: value.kind, text: `${name}=${value.text}` }
  }

  subscript(node: Assignment): void {
    const { index } = node
    if (index === undefined) return
    this.words(index)
    if (!/^[0-9]+$/.test(index.text))
      this.#context.evaluates(`the subscript of ${node.name}[${index.text}] is evaluated`)
  }

  words(word: Word): readonly (ShellWord | WordChoice)[] {
    return readWord(word, this.#context)
  }

  add(command: SimpleCommand): void {
    if (this.commands.length < mostCommands) this.commands.push(command)
    else this.problem(`more than ${mostCommands} commands in one text`)
  }

  #assign(name: string, word: ShellWord | WordChoice | undefined): void {
    if (word === undefined) this.#variables.assign(name, { kind: 'static', text: '' })
    else for (const value of choicesOf(word)) this.#variables.assign(name, value)
  }
}

function isQuoting(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isQuoting)
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}
