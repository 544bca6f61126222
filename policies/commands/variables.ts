import type { ShellWord } from './shell-word.ts'

/** Variables a line may read without giving away a secret or being told what to do: their values are facts about the machine. */
const plainVariables = new Set([
  ...['HOME', 'PWD', 'OLDPWD', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'HOSTNAME', 'UID', 'EUID', 'PATH', 'TMPDIR'],
  ...['RANDOM', 'SECONDS', 'LINENO', 'BASH_VERSION', 'OSTYPE', 'HOSTTYPE', 'MACHTYPE', 'COLUMNS', 'LINES', 'PPID'],
  ...['?', '#', '$', '!', '-'],
])

/** What a name holds, whatever way the line takes. */
type Variable = { readonly values: ShellWord[]; known: boolean; fromEnvironment: boolean }

const mostValues = 16

/** What these hold as far as judging a path goes. */
const customary: Readonly<Record<string, readonly ShellWord[]>> = {
  HOME: [{ kind: 'static', text: '~' }],
  PWD: [{ kind: 'static', text: '.' }],
}

/**
 * The variables a shell text sets. It doesn't follow the order of things: a name holds all that is ever given to it,
 * so that a loop or a function that runs later changes nothing.
 */
export class Variables {
  readonly #variables = new Map<string, Variable>()
  #readsEnvironment = false

  /** The line changes to another folder, whose name may be any: what `$PWD` holds is split at its blanks. */
  moves = false

  /** No name was given anything, and every name holds what it held. */
  get isEmpty(): boolean {
    return this.#variables.size === 0 && !this.moves
  }

  /** Notes a value given to a name; undefined is one that can't be known before it runs. */
  assign(name: string, value: ShellWord | undefined): void {
    const variable = this.#variables.get(name) ?? { values: [], known: true, fromEnvironment: false }
    this.#variables.set(name, variable)
    if (value === undefined || value.kind === 'dynamic') {
      variable.known = false
      if (value?.kind === 'dynamic' && value.from === 'environment') variable.fromEnvironment = true
    } else if (!variable.values.some((known) => known.kind === value.kind && known.text === value.text)) {
      if (variable.values.length < mostValues) variable.values.push(value)
      else variable.known = false
    }
  }

  /** All values a name can have, or undefined where they can't be listed. */
  valuesOf(name: string): readonly ShellWord[] | undefined {
    const variable = this.#variables.get(name)
    if (variable === undefined) return Object.hasOwn(customary, name) ? customary[name] : undefined
    return variable.known ? variable.values : undefined
  }

  /** Whether a name can hold something that came from the process's environment. */
  isFromEnvironment(name: string): boolean {
    const isFrom = this.#isFromEnvironment(name)
    this.#readsEnvironment ||= isFrom
    return isFrom
  }

  /** Whether any that can was asked about. */
  get readsEnvironment(): boolean {
    return this.#readsEnvironment
  }

  #isFromEnvironment(name: string): boolean {
    if (plainVariables.has(name) || /^[0-9@*]$/.test(name)) return false
    const variable = this.#variables.get(name)
    if (variable?.fromEnvironment === true) return true
    // Names in lower case are a line's own; what programs export is in capitals. The last word of the command before may be any.
    if (/^[a-z][a-z0-9_]*$|^_.+/.test(name) && !/key|token|secret|pass|cred|auth|pw/.test(name)) return false
    return variable === undefined
  }
}
