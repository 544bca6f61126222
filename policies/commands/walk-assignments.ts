import { integerVariables, namesSet, type NamingWord } from './naming.ts'
import type { Assignment, Command, Word } from './shell-syntax.ts'
import { literal, type ShellWord, type WordChoice } from './shell-word.ts'
import type { ShellAssignment } from './simple-command.ts'
import { choicesOf, unclear } from './variants.ts'
import { readOperand, readWord } from './walk-words.ts'
import { isQuoting } from './walk-syntax.ts'
import type { WordContext } from './word-context.ts'

const mostRounds = 64

/** The part of a walk over a shell text that handles assignments. */
export class Assignments {
  readonly #context: WordContext

  constructor(context: WordContext) {
    this.#context = context
  }

  /** Records the variables that a command sets without an assignment. Only their names are known. */
  note(words: readonly NamingWord[]): void {
    const { names, problem } = namesSet(words)
    if (problem !== undefined) this.#context.problem(problem)
    const declares = words[0]?.source !== 'read'
    for (const name of names) this.assign(name, unclear(name), declares)
  }

  /** Records what a loop assigns to its variable. Returns whether the loop certainly ends after a few iterations. */
  loop(name: Word, wordlist: readonly Word[] | undefined): boolean {
    this.#context.assigns(name.value)
    const words = wordlist?.flatMap((word) => readWord(word, this.#context))
    if (words === undefined || words.length === 0) this.assign(name.value, unclear(name.value))
    for (const word of words ?? []) this.assign(name.value, word)
    return (
      words !== undefined &&
      words.length <= mostRounds &&
      words.flatMap(choicesOf).every(({ kind }) => kind === 'static')
    )
  }

  /** Reads the assignments in front of a command. Without a command, they apply to the rest of the text. */
  readPrefix({ prefix, name: program }: Command): readonly ShellAssignment[] {
    const { variables } = this.#context
    const { splitsElsewhere } = variables
    const assignments = prefix.filter((part) => part.type === 'Assignment').map((part) => this.#read(part))
    if (program === undefined) return assignments
    // In front of a command, assignments apply only to that command, and the old values return afterwards.
    for (const { name } of assignments) variables.assign(name, undefined)
    // `IFS=` in front of `read` applies only to the line that is read. Some other built-ins keep such an assignment in some shells.
    if (program.text === 'read') variables.splitsElsewhere = splitsElsewhere
    return assignments
  }

  #read(node: Assignment): ShellAssignment {
    const { name, value } = node
    this.#context.coverage.claim('word', node)
    if (node.index !== undefined) this.#subscript(node)
    if (value.type === 'ArrayValue') {
      for (const element of value.elements) for (const word of readWord(element, this.#context)) this.assign(name, word)
      this.#context.variables.assign(name, undefined)
      return { name, value: undefined }
    }
    const [first] = readOperand(value, this.#context)
    // Arithmetic always results in a number, so the number 0 can stand for any result.
    const isNumber = value.parts?.length === 1 && value.parts[0]?.type === 'ArithmeticExpansion'
    const word = isNumber ? literal('0') : first
    if (node.append === true) this.assign(name, unclear(node.text))
    this.assign(name, word)
    return { name, value: word?.kind === 'either' ? unclear(word.text) : word }
  }

  /** Reads an argument such as the `A=b` of `export A=b`: an assignment that the command also gets as a word. */
  readArgument(node: Assignment): ShellWord {
    const parts = node.value.type === 'ArrayValue' ? undefined : node.value.parts
    if (this.#context.plainShell && parts?.every(isQuoting) === false)
      this.#context.problem(`some shells split ${node.text} into words`)
    const { name, value } = this.#read(node)
    if (value === undefined || value.kind === 'dynamic') {
      return { kind: 'dynamic', text: node.text, prefix: `${name}=`, single: true, from: value?.from ?? 'commands' }
    }
    return { kind: value.kind, text: `${name}=${value.text}` }
  }

  #subscript(node: Assignment): void {
    const { index } = node
    if (index === undefined) return
    readOperand(index, this.#context)
    if (!/^[0-9]+$/.test(index.text))
      this.#context.evaluates(`the subscript of ${node.name}[${index.text}] is evaluated as arithmetic`)
  }

  assign(name: string, word: ShellWord | WordChoice | undefined, declares = false): void {
    const values = word === undefined ? [] : choicesOf(word)
    if (
      integerVariables.has(name) &&
      !declares &&
      !values.every(({ kind, text }) => kind === 'static' && /^[0-9]*$/.test(text))
    )
      this.#context.evaluates(`the value assigned to ${name} is evaluated as arithmetic`)
    if (word === undefined) this.#context.variables.assign(name, { kind: 'static', text: '' })
    else for (const value of values) this.#context.variables.assign(name, value)
  }
}
