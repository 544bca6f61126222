import { parseShell } from './shell-syntax.ts'
import type {
  Assignment,
  Command,
  CommandNode,
  CompoundList,
  ParsedScript,
  Redirection,
  Statement,
  TestExpression,
  Word,
  WordPart,
} from './shell-syntax.ts'
import type { ShellWord, WordChoice } from './shell-word.ts'
import type { FileRedirection, ShellAssignment, ShellScript, SimpleCommand, StandardInput } from './simple-command.ts'
import { Variables } from './variables.ts'
import { checkArithmetic, readText, readWord, type WordContext } from './walk-words.ts'

const mostVariants = 64
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
  if (/[=]|\b(?:for|select|read)\b/.test(text)) new Walk(variables, shell === 'sh').script(parsed)
  const walk = new Walk(variables, shell === 'sh')
  walk.script(parsed)
  return { commands: walk.commands, functions: walk.functions, problems: [...walk.problems] }
}

const fromCaller: StandardInput = { from: 'caller' }

class Walk {
  readonly commands: SimpleCommand[] = []
  readonly functions = new Set<string>()
  readonly problems = new Set<string>()
  readonly #context: WordContext
  readonly #variables: Variables

  constructor(variables: Variables, plainShell: boolean) {
    this.#variables = variables
    this.#context = {
      variables,
      plainShell,
      substitution: (script) => {
        if (script === undefined) this.problem('a substitution could not be read')
        else this.script(script)
      },
      problem: (reason) => this.problem(reason),
    }
  }

  problem(reason: string): void {
    this.problems.add(reason)
  }

  script(script: ParsedScript, input = fromCaller): void {
    for (const error of script.errors ?? []) this.problem(`the shell text does not parse: ${error.message}`)
    for (const statement of script.commands) this.statement(statement, input)
  }

  statement(statement: Statement, input: StandardInput): void {
    const { command } = statement
    if (command.type === 'AndOr') for (const part of command.commands) this.pipeline(part, input)
    else this.pipeline(command, input)
  }

  pipeline(node: Statement['command'], input: StandardInput): void {
    if (node.type === 'AndOr') for (const part of node.commands) this.pipeline(part, input)
    else if (node.type === 'Pipeline') {
      for (const [at, command] of node.commands.entries())
        this.command(command, at === 0 ? input : { from: 'pipe' }, [])
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
        const opened = this.redirections(node.redirects, input)
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
        return this.test(node.expression)
      case 'ArithmeticCommand':
        if (this.#context.plainShell) this.problem('a plain sh has no ((')
        return checkArithmetic(node.expression, this.#context)
      default:
        this.problem(`${(node satisfies never as { type: string }).type} is syntax not known here`)
    }
  }

  loop(name: Word, wordlist: readonly Word[] | undefined): void {
    const words = wordlist?.flatMap((word) => this.words(word))
    if (words === undefined || words.length === 0) this.#variables.assign(name.value, undefined)
    for (const word of words ?? []) this.#assign(name.value, word)
  }

  test(expression: TestExpression): void {
    switch (expression.type) {
      case 'TestLogical':
        for (const operand of expression.operands) this.test(operand)
        return
      case 'TestNot':
        return this.test(expression.operand)
      case 'TestGroup':
        return this.test(expression.expression)
      case 'TestUnary':
        this.words(expression.operand)
        if (/^-[vR]$/.test(expression.operator)) this.problem(`[[ ${expression.operator} evaluates subscripts`)
        return
      case 'TestBinary':
        for (const side of [expression.left, expression.right]) {
          this.words(side)
          if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator) && !/^(?:-?[0-9]+|\$[#?])$/.test(side.text)) {
            this.problem(`[[ ${expression.operator} evaluates the text of ${side.text}`)
          }
        }
        return
      default:
        this.problem(`${(expression satisfies never as { type: string }).type} is a test not known here`)
    }
  }

  simple(node: Command, input: StandardInput): void {
    const assignments = node.prefix.filter((part) => part.type === 'Assignment').map((part) => this.assignment(part))
    const opened = this.redirections(node.redirects, input)
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
    this.noteRead(node)
  }

  /** `read x y` fills its names with what comes in. */
  noteRead(node: Command): void {
    if (!['read', 'mapfile', 'readarray', 'getopts', 'printf'].includes(node.name?.value ?? '')) return
    for (const part of node.args) {
      if (part.type === 'Word' && /^[A-Za-z_]\w*$/.test(part.value)) this.#variables.assign(part.value, undefined)
    }
    if (node.name?.value === 'read') this.#variables.assign('REPLY', undefined)
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
    return { name, value: word?.kind === 'either' ? { ...unclear, text: word.text } : word }
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
    if (!/^[0-9]+$/.test(index.text)) this.problem(`the subscript of ${node.name}[${index.text}] is evaluated`)
  }

  redirections(
    redirects: readonly Redirection[],
    input: StandardInput,
  ): { files: FileRedirection[]; input: StandardInput } {
    const files: FileRedirection[] = []
    for (const redirect of redirects) {
      const { descriptor } = redirect
      if (descriptor?.type === 'FileDescriptorVariable') this.problem(`{${descriptor.name}} holds a descriptor`)
      const toInput = descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0)
      switch (redirect.type) {
        case 'HereDoc': {
          const { delimiter, body } = redirect
          const text = delimiter?.quoted === true ? body.text : readText(body.parts ?? [], this.#context)
          if (delimiter === undefined || redirect.closing === undefined) this.problem('a heredoc has no end')
          if (toInput) input = { from: 'text', text: body.parts === undefined ? body.text : text }
          break
        }
        case 'HereString': {
          const words = redirect.target === undefined ? [] : this.words(redirect.target)
          const [word] = words
          if (toInput)
            input = { from: 'text', text: words.length === 1 && word?.kind === 'static' ? word.text : undefined }
          break
        }
        case 'Redirect': {
          const targets = redirect.target === undefined ? [] : this.words(redirect.target)
          const { operator } = redirect
          if (targets.length !== 1) this.problem('a redirection without one clear target')
          for (const target of targets.flatMap(choices)) {
            const duplicates = operator === '<&' || (operator === '>&' && /^(?:[0-9]+-?|-)$/.test(target.text))
            if (duplicates && target.kind === 'static' && /^(?:[0-9]+-?|-)$/.test(target.text)) continue
            if (duplicates) this.problem(`${operator} ${target.text} copies a descriptor that isn't a number`)
            else if (operator === '<') files.push({ access: 'read', target })
            else files.push({ access: 'write', target })
            if (operator === '<>') files.push({ access: 'read', target })
          }
          if (toInput && (operator === '<' || operator === '<>')) input = { from: 'file' }
          if (toInput && operator === '<&') input = { from: 'pipe' }
          break
        }
        default:
          this.problem(`${(redirect satisfies never as { type: string }).type} is a redirection not known here`)
      }
    }
    return { files, input }
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
    else for (const value of choices(word)) this.#variables.assign(name, value)
  }
}

const unclear = { kind: 'dynamic', prefix: '', single: true, from: 'commands' } as const

function choices(word: ShellWord | WordChoice): readonly ShellWord[] {
  return word.kind === 'either' ? word.choices : [word]
}

function isQuoting(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isQuoting)
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}

/** Every command that a command with choices in it can be; too many, and the choices become unknown words. */
function variants(words: readonly (ShellWord | WordChoice)[]): readonly (readonly ShellWord[])[] {
  const count = words.reduce((product, word) => product * choices(word).length, 1)
  if (count > mostVariants) {
    return [words.map((word) => (word.kind === 'either' ? { ...unclear, text: word.text } : word))]
  }
  let made: readonly (readonly ShellWord[])[] = [[]]
  for (const word of words) made = made.flatMap((before) => choices(word).map((choice) => [...before, choice]))
  return made
}
