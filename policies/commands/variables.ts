import type { ShellWord } from './shell-word.ts'

/** Variables that describe the machine, the user or the shell. A command line can use them, because their values are neither secret nor dangerous. */
const plainVariables = new Set([
  ...['HOME', 'PWD', 'OLDPWD', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'HOSTNAME', 'UID', 'EUID', 'PATH', 'TMPDIR'],
  ...['RANDOM', 'SECONDS', 'LINENO', 'BASH_VERSION', 'OSTYPE', 'HOSTTYPE', 'MACHTYPE', 'COLUMNS', 'LINES', 'PPID'],
  ...[
    'CI',
    'NODE_ENV',
    'SHLVL',
    'TZ',
    'EDITOR',
    'PAGER',
    'COLORTERM',
    'DISPLAY',
    'DEBUG',
    'VERBOSE',
    'JAVA_HOME',
    'VIRTUAL_ENV',
  ],
  ...[
    'GOPATH',
    'GOROOT',
    'CARGO_HOME',
    'NVM_DIR',
    'XDG_CONFIG_HOME',
    'XDG_CACHE_HOME',
    'XDG_DATA_HOME',
    'XDG_RUNTIME_DIR',
  ],
  ...['?', '#', '$', '!', '-'],
])

/** Matches an expansion whose result depends only on the value of a variable, or only on whether the value is empty. */
export const plainExpansion = /^"?\$(?:\w+|\{\w+(?::?[-+]\w*)?\})"?$/

/** The values that a variable may have, whichever parts of the command line run. */
type Variable = { readonly values: ShellWord[]; known: boolean; fromEnvironment: boolean }

const mostValues = 16

/** Characters at which a shell splits a value, or that turn it into a pattern. */
const splitting = /[\s*?[\]\\]/

/** The values that some variables usually have, as far as they are needed to judge a path. */
const customary: Readonly<Record<string, readonly ShellWord[]>> = {
  HOME: [{ kind: 'static', text: '~' }],
  PWD: [{ kind: 'static', text: '.' }],
}

/**
 * Matches the names of variables to which the shell itself assigns values, regardless of what the command line assigns (bash(1), Shell Variables).
 */
const keptByShell =
  /^(?:_|PWD|OLDPWD|OPTARG|GROUPS|FUNCNAME|DIRSTACK|PIPESTATUS|COPROC|MAPFILE|READLINE_\w+|COMP_\w+|BASH\w*)$/

/**
 * The variables that a shell text sets. A name counts as having every value that is assigned to it anywhere in the text, so it doesn't matter when a loop or a
 * function assigns a value. The values are used only if one of them was certainly assigned before, in the same shell.
 */
export class Variables {
  readonly #variables = new Map<string, Variable>()
  #readsEnvironment = false
  /** Names that certainly have a value at the current point of the walk. */
  #sure = new Set<string>()

  /**
   * Whether `$PWD` may be split at blanks, because the path of the folder in which the command line runs, or of one that it changes to, may contain
   * blanks.
   */
  moves: boolean

  constructor(cwd = '/') {
    this.moves = splitting.test(cwd)
  }

  /** Whether an assignment anywhere in the text may change the characters at which the shell splits values. */
  splitsElsewhere = false

  /** Whether nothing is known about any variable: no value was recorded, and `$PWD` can't be split at blanks. */
  get isEmpty(): boolean {
    return this.#variables.size === 0 && !this.moves
  }

  /** Prepares for a second walk over the same text: the collected values are kept, but no name is certain to have a value yet. */
  restart(): void {
    this.#sure = new Set()
  }

  /**
   * Walks a part of the text that might not run, or that runs in another shell. Returns the names that certainly have a value at the end of the part.
   * Afterwards, only the names that certainly had a value before the part count as certain.
   */
  apart(part: () => void): ReadonlySet<string> {
    const before = this.#sure
    this.#sure = new Set(before)
    part()
    const inner = this.#sure
    this.#sure = before
    return inner
  }

  /**
   * Combines alternative parts of the text, exactly one of which runs. From now on, the names that certainly have a value at the end of every part
   * count as certain.
   *
   * @param ends for each part, the names that certainly have a value at its end
   */
  joinParts(ends: readonly ReadonlySet<string>[]): void {
    const [first = new Set<string>(), ...others] = ends
    this.#sure = new Set([...this.#sure, ...[...first].filter((name) => others.every((end) => end.has(name)))])
  }

  /** Records an assigned value. `undefined` stands for a value that is known only at run time. */
  assign(name: string, value: ShellWord | undefined): void {
    if (name === 'IFS') this.splitsElsewhere = true
    const variable = this.#variables.get(name) ?? { values: [], known: true, fromEnvironment: false }
    this.#variables.set(name, variable)
    this.#sure.add(name)
    if (value === undefined || value.kind === 'dynamic') {
      variable.known = false
      if (value?.kind === 'dynamic' && value.from === 'environment') variable.fromEnvironment = true
    } else if (!variable.values.some((known) => known.kind === value.kind && known.text === value.text)) {
      if (variable.values.length < mostValues) variable.values.push(value)
      else variable.known = false
    }
  }

  /** Whether the command line gives a variable a value anywhere. */
  isAssigned(name: string): boolean {
    return this.#variables.has(name)
  }

  /** All values that a variable can have; undefined if they can't be listed. */
  valuesOf(name: string): readonly ShellWord[] | undefined {
    const variable = this.#variables.get(name)
    if (variable === undefined) return Object.hasOwn(customary, name) ? customary[name] : undefined
    return variable.known && this.#sure.has(name) && !keptByShell.test(name) ? variable.values : undefined
  }

  /**
   * Whether a variable can only have numbers as values. A variable that belongs to the command line itself (see `isOwn`) and has no value yet counts as zero.
   */
  isNumber(name: string): boolean {
    const variable = this.#variables.get(name)
    if (variable?.known !== true || keptByShell.test(name) || !(this.#sure.has(name) || isOwn(name))) return false
    return variable.values.every((value) => value.kind === 'static' && /^-?[0-9]+$/.test(value.text))
  }

  /** Whether a variable's value may be a secret from the process's environment. If so, `readsEnvironment` is true from then on. */
  isFromEnvironment(name: string): boolean {
    const isFrom = this.#isFromEnvironment(name)
    this.#readsEnvironment ||= isFrom
    return isFrom
  }

  /** Whether `isFromEnvironment` returned true for any name. */
  get readsEnvironment(): boolean {
    return this.#readsEnvironment
  }

  #isFromEnvironment(name: string): boolean {
    if (plainVariables.has(name) || /^[0-9@*]$/.test(name)) return false
    const variable = this.#variables.get(name)
    if (variable?.fromEnvironment === true) return true
    if (isOwn(name) && !/key|token|secret|pass|cred|auth|pw/.test(name)) return false
    return variable === undefined || !this.#sure.has(name)
  }
}

/**
 * Whether a variable counts as belonging to the command line itself, not to the environment. This is so if its name begins with an underscore or is
 * in lower case, since exported names are usually in capitals. `$_` doesn't count, because it is the last word of the previous command.
 */
function isOwn(name: string): boolean {
  return /^[a-z][a-z0-9_]*$|^_.+/.test(name)
}
