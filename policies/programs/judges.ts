import { readOnly, unknown, type Alarm, type Fact } from '../commands/facts.ts'
import {
  optionTable,
  parseArguments,
  type GivenOption,
  type OptionStyle,
  type ParseStyle,
} from '../commands/parse-options.ts'
import { mountedHosts } from '../commands/mounted-hosts.ts'
import { coversSensitive, findSensitive, findPrivateFolder } from '../commands/sensitive-paths.ts'
import { literal, mayBeSeveral, type ShellWord } from '../commands/shell-word.ts'
import type { Judgement, Program } from './program-table.ts'

type ReaderStyle = Omit<ParseStyle, 'letters' | 'stopAtOperand'> & {
  /**
   * What the operands are: files that the program reads, names of files of which it reads only metadata, or text. `none`: the program accepts no
   * operands.
   */
  readonly operands?: 'files' | 'names' | 'text' | 'none'
  /** Options that make the program traverse everything below its operands. `always` if the program does so by default. */
  readonly recursive?: 'always' | readonly string[]
  /** The number of operands that come before the files and are text, such as grep's pattern. */
  readonly textFirst?: number
  /** Options that replace the leading text operands, such as `grep -e`. */
  readonly textOption?: readonly string[]
  /** Whether `@file` among the arguments stands for the words in that file. */
  readonly responseFiles?: boolean
  /** Options that limit how much the program reads of an endless file. */
  readonly limits?: readonly string[]
  /** How many operands are files that the program reads. A further operand means something else. */
  readonly most?: number
  /** Set if the operands beyond `most` are files that the program writes, as with uniq. */
  readonly written?: true
}

/**
 * Creates the row of a program that only reads and prints if it is given no options other than the listed ones. `letters`: how the program reads the text
 * after one dash.
 */
export function reader(letters: OptionStyle, source: string, options: string, style: ReaderStyle = {}): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args) => {
      // If the number of operands is limited, an option after an operand counts as an operand, as it does on some systems.
      const parsed = parseArguments(args, table, { ...style, letters, stopAtOperand: style.most !== undefined })
      if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
      if (style.responseFiles === true && args.some(({ text }) => text.startsWith('@'))) {
        return { facts: [unknown('its arguments are in a file')] }
      }
      const given = judgeOptions(parsed.options)
      const kind = style.operands ?? 'files'
      if (kind === 'none' && parsed.operands.length > 0) return { facts: [unknown('operands are not expected here')] }
      if (style.written === true && args.some(mayBeSeveral))
        return {
          facts: [
            unknown(
              'one of its arguments may expand to several words, and the program writes to the file that the last one names',
            ),
          ],
        }
      if (parsed.operands.length > (style.most ?? Infinity)) {
        return {
          facts: [
            unknown(
              `it has too many operands (expected at most ${style.most}), and extra operands can change what it does`,
            ),
          ],
        }
      }
      const isLimited = parsed.options.some(({ name }) => style.limits?.includes(name))
      const named = isLimited ? parsed.operands.filter(({ text }) => !endless.test(text)) : parsed.operands
      const replaced = parsed.options.some(({ name }) => style.textOption?.includes(name))
      const leading = replaced ? 0 : (style.textFirst ?? 0)
      // If an operand that should be text expands to several words, the program takes the second word as a file.
      const texts = parsed.operands.slice(0, leading).some(isFromCommands) ? 0 : leading
      const judged =
        kind === 'text'
          ? judgeTexts(parsed.operands)
          : kind === 'names'
            ? judgeNames(parsed.operands)
            : join([judgeTexts(parsed.operands.slice(0, texts)), judgeFiles(named.slice(texts))])
      const { recursive } = style
      const isRecursive = recursive === 'always' || parsed.options.some(({ name }) => recursive?.includes(name))
      const below = isRecursive ? judgeTrees(parsed.operands.slice(texts)) : { facts: [] }
      return join([{ facts: [readOnly] }, given, judged, below])
    },
  }
}

/**
 * Whether a word stands for any number of words that the command line itself produces, such as an unquoted `$(…)` or the words that xargs reads from its
 * input. Options and file names may be among them.
 */
function isFromCommands(word: ShellWord): boolean {
  return word.kind === 'dynamic' && !word.single && word.from === 'commands'
}

/** Judges the effects of options: the files that they read or write, and values that reveal a variable. */
export function judgeOptions(options: readonly GivenOption[]): Judgement {
  return join(
    options.map(({ name, takes, value }) => {
      if (value === undefined) return { facts: [] }
      if (takes === 'reads') return judgeFiles([value])
      if (takes === 'writes') return { facts: [{ class: 'writes', paths: [value.text] }] }
      // These options limit a search to files whose names match, so the search may read any file that matches.
      if (/^(?:-g|--i?glob|--include)$/.test(name) && value.kind === 'static')
        return judgeFiles([{ ...value, kind: 'glob' }])
      return judgeTexts([value])
    }),
  )
}

/** Devices that can be read endlessly. */
const endless = /^\/+dev\/+(?:zero|full|u?random)$/

/**
 * Judges files that would be read. A sensitive file raises an alarm. The command becomes unknown if one of the files never ends, or if a file's name
 * is known only at run time and doesn't come from a search below the working folder.
 */
export function judgeFiles(files: readonly ShellWord[]): Judgement {
  const facts: Fact[] = [...mountedHosts(files)]
  const alarms: Alarm[] = []
  for (const file of files) {
    // A value that is known only at run time is judged by its ending as well: `$folder/.env`.
    const sensitive =
      findSensitive(file.kind === 'dynamic' ? file.prefix : file.text, file.kind === 'glob') ??
      (file.kind === 'dynamic' ? findSensitive(file.text.replace(/["'\\]/g, '')) : undefined)
    if (sensitive !== undefined) {
      alarms.push({ kind: 'secret', reason: `credentials are stored in ${file.text} (${sensitive})`, file })
    }
    if (endless.test(file.text)) facts.push(unknown(`${file.text} has no end`))
    if (file.kind === 'dynamic' && file.from !== 'workspace')
      facts.push(unknown(`the file that ${file.text} refers to is known only when the command runs`))
  }
  return { facts, alarms, reads: files }
}

/**
 * Judges files of which only names and metadata are read. The names and sizes of files aren't secret, except in folders where even these are private.
 */
function judgeNames(files: readonly ShellWord[]): Judgement {
  // A pattern for all hidden entries of a folder (`.*`) doesn't target secrets in particular.
  const secret = files.find(
    (file) =>
      !/^\.\*\/?$/.test(file.text) &&
      findPrivateFolder(file.kind === 'dynamic' ? file.prefix : file.text, file.kind === 'glob') !== undefined,
  )
  const dynamic = files.filter((file) => file.kind === 'dynamic' && file.from === 'environment')
  const facts = [
    ...dynamic.map((file) => unknown(`${file.text} may contain a secret from the environment`)),
    ...mountedHosts(files),
  ]
  if (secret === undefined) return { facts, names: files }
  return {
    facts,
    names: files,
    alarms: [{ kind: 'secret', reason: `credentials are stored in ${secret.text}`, file: secret }],
  }
}

/** Judges whole directory trees that would be searched. */
function judgeTrees(roots: readonly ShellWord[]): Judgement {
  const covering = roots.find(({ kind, text }) => kind !== 'dynamic' && coversSensitive(text))
  const trees = roots.length === 0 ? [literal('.')] : roots
  const facts = mountedHosts(trees)
  if (covering === undefined) return { facts, trees }
  return {
    facts,
    trees,
    alarms: [{ kind: 'secret', reason: `credentials are stored below ${covering.text}`, file: covering }],
  }
}

/** Judges text that would be shown. A variable that the command line doesn't set may contain a secret. */
export function judgeTexts(words: readonly ShellWord[]): Judgement {
  const facts = words
    .filter((word) => word.kind === 'dynamic' && word.from === 'environment')
    .map((word) => unknown(`${word.text} may contain a secret from the environment`))
  // The shell expands a pattern even if only the names are shown, and that may mount the files of another host.
  return { facts: [...facts, ...mountedHosts(words.filter(({ kind }) => kind === 'glob'))] }
}

/** Combines several judgements about one command. */
export function join(judgements: readonly Judgement[]): Judgement {
  const opaque = judgements.find((judgement) => judgement.opaque !== undefined)?.opaque
  return {
    ...(opaque === undefined ? {} : { opaque }),
    facts: judgements.flatMap(({ facts }) => facts),
    alarms: judgements.flatMap(({ alarms }) => alarms ?? []),
    runs: judgements.flatMap(({ runs }) => runs ?? []),
    reads: judgements.flatMap(({ reads }) => reads ?? []),
    names: judgements.flatMap(({ names }) => names ?? []),
    trees: judgements.flatMap(({ trees }) => trees ?? []),
  }
}

/** Judges a script that would be run. If it comes from a descriptor, it is the output of other commands and may contain any command. */
export function runsScript(script: ShellWord): Judgement {
  const facts = [{ class: 'runs-code', reason: `runs the script ${script.text}` } as const]
  const path = script.kind === 'dynamic' ? script.prefix : script.text
  const printed = /^\/dev\/(?:stdin|fd\/)|^\/proc\/.*\/fd\//.test(path)
  return printed ? { facts, opaque: `the script ${script.text} is known only when the command runs` } : { facts }
}
