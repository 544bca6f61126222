import type { ShellWord, WordChoice } from './shell-word.ts'

/** Commands whose arguments bash reads as assignments, if the name of the command is written without quotes and expansions (bash(1), `declare`). */
const declaring = new Set(['export', 'declare', 'typeset', 'local', 'readonly'])
/** Built-ins that set or unset variables that their arguments name. */
const filling = new Set(['read', 'mapfile', 'readarray', 'getopts', 'unset', 'wait', 'let'])
const runningOthers = new Set(['command', 'builtin', 'exec', 'env'])

/** Variables in which bash stores numbers. A value that is assigned to one of them is first evaluated as arithmetic. */
export const integerVariables: ReadonlySet<string> = new Set([
  ...['OPTIND', 'RANDOM', 'SRANDOM', 'SECONDS', 'HISTCMD', 'LINENO', 'BASHPID', 'BASH_SUBSHELL', 'EPOCHSECONDS'],
  ...['EPOCHREALTIME', 'COMP_CWORD', 'COMP_POINT', 'COMP_TYPE', 'COMP_KEY', 'UID', 'EUID', 'PPID', 'OPTERR'],
])

/** One word of a command as it is written, together with its expansion. */
export type NamingWord = {
  readonly source: string
  readonly becomes: readonly (ShellWord | WordChoice)[]
  /** Whether the parser reads the word as an assignment. The name in an assignment is always literal. */
  readonly isAssignment: boolean
}

/** The names of the variables that a command assigns to. `problem` says why some of the names can't be known. */
type Naming = { readonly names: readonly string[]; readonly problem?: string }

/** The variables that a command may set, apart from assignments in front of it. Only literal names are known; a computed name could be any name. */
export function namesSet([program, ...args]: readonly NamingWord[]): Naming {
  const name = textOf(program)
  if (program === undefined || name === undefined) return { names: [] }
  const all = args.flatMap(({ becomes }) => becomes)
  const inner = runningOthers.has(name)
    ? all.find((word) => word.kind === 'static' && (declaring.has(word.text) || filling.has(word.text)))
    : undefined
  const isNaming = declaring.has(name) || filling.has(name)
  if (inner !== undefined && name !== 'env')
    return { names: [], problem: `${name} ${inner.text} doesn't read its arguments as ${inner.text} alone does` }
  if (!isNaming) return { names: printfNames(name, args) }
  if (program.source !== name) return { names: [], problem: `${program.source} is an unusual way of writing ${name}` }
  const names: string[] = name === 'read' ? ['REPLY'] : []
  for (const [at, arg] of args.entries()) {
    if (arg.isAssignment) continue
    const text = textOf(arg) ?? ''
    const isValue = name === 'read' && /^-[a-z]*[dnNptu]$/.test(textOf(args[at - 1]) ?? '')
    const given = declaring.has(name) ? /^([A-Za-z_]\w*)\+?=/.exec(prefixOf(arg))?.[1] : undefined
    if (isValue) continue
    else if (given !== undefined) names.push(given)
    else if (/^[A-Za-z_]\w*$/.test(text)) names.push(text)
    else if (!/^[-+]|^[0-9]+$/.test(text) && name !== 'wait')
      return { names, problem: `${arg.source} is not a literal name` }
  }
  return { names }
}

function printfNames(name: string, args: readonly NamingWord[]): readonly string[] {
  if (name !== 'printf') return []
  return args.flatMap((arg) => (/^[A-Za-z_]\w*$/.test(textOf(arg) ?? '') ? [textOf(arg) ?? ''] : []))
}

/** The value of a word, if it is known. */
function textOf(word: NamingWord | undefined): string | undefined {
  const [only, ...others] = word?.becomes ?? []
  return only?.kind === 'static' && others.length === 0 ? only.text : undefined
}

function prefixOf({ becomes: [only, ...others] }: NamingWord): string {
  if (only === undefined || others.length > 0) return ''
  if (only.kind === 'dynamic') return only.single ? only.prefix : ''
  return only.kind === 'static' ? only.text : ''
}
