import { mayBeOption, staticText, type ShellWord } from './shell-word.ts'

/** What an option takes: nothing, a value, an optional attached value, a file that it reads, or a file that it writes. */
type Takes = 'nothing' | 'value' | 'attached' | 'reads' | 'writes'

/** The known options of a program. Any other option makes the whole command unknown. */
export type OptionTable = Pick<ReadonlyMap<string, Takes>, 'get'>

/** One option of a command line, with its value if it has one. */
export type GivenOption = { readonly name: string; readonly takes: Takes; readonly value: ShellWord | undefined }

/** A parsed command line, or the reason why it can't be parsed. */
export type ParsedArguments =
  | { readonly ok: true; readonly options: readonly GivenOption[]; readonly operands: readonly ShellWord[] }
  | { readonly ok: false; readonly reason: string }

const suffixes: Readonly<Record<string, Takes>> = { ':': 'value', '?': 'attached', '<': 'reads', '>': 'writes' }

/**
 * Parses a table of options, given as names separated by spaces. `-n` has no value, `-n:` has one, `--color?` may have one attached (`--color=auto`,
 * `-C3`), `-f<` is followed by the name of a file to read, and `-o>` by the name of a file to write. The text is parsed when the table is first used,
 * because a run uses few of the tables.
 */
export function optionTable(text: string): OptionTable {
  let table: ReadonlyMap<string, Takes> | undefined
  return { get: (name) => (table ??= readTable(text)).get(name) }
}

function readTable(text: string): ReadonlyMap<string, Takes> {
  const table = new Map<string, Takes>()
  for (const token of text.split(/\s+/).filter((part) => part !== '')) {
    const suffix = suffixes[token.at(-1) ?? '']
    table.set(suffix === undefined ? token : token.slice(0, -1), suffix ?? 'nothing')
  }
  return table
}

/**
 * How a program reads the text after one dash. There is no default: whoever adds a program must choose, because an option can go unnoticed if bundled options
 * are read in the wrong way.
 *
 * - `getopt`: letters are bundled, and a value is attached or follows (getopt(3), getopt_long(3) and compatible libraries)
 * - `last`: letters are bundled, and only the last may have a value, which is the next word
 * - `apart`: each option is a separate word, whether its name is a letter or a whole word; nothing is bundled or attached
 */
export type OptionStyle = 'getopt' | 'last' | 'apart'

/** How a program reads its arguments. */
export type ParseStyle = {
  readonly letters: OptionStyle
  /** Whether options end at the first operand, as for programs that start another program. */
  readonly stopAtOperand?: boolean
  /** Whether the program reads a word like `-20` as a number, such as a number of lines. */
  readonly numbers?: boolean
  /** Whether words that are known only at run time may count as operands, because no option of the program is harmful. */
  readonly anyWord?: boolean
}

/**
 * Parses arguments: options after one dash in the program's own style, `--name=value`, and `--`. Abbreviated long names aren't in the table, so they aren't
 * understood.
 */
export function parseArguments(words: readonly ShellWord[], table: OptionTable, style: ParseStyle): ParsedArguments {
  const options: GivenOption[] = []
  const operands: ShellWord[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) break
    if (!mayBeOption(word)) {
      if (style.stopAtOperand === true) return { ok: true, options, operands: [...operands, ...words.slice(at)] }
      operands.push(word)
      continue
    }
    const text = staticText(word)
    const given = text === undefined ? readNamed(word, table) : undefined
    if (given !== undefined) {
      options.push(given)
      continue
    }
    if (text === undefined) {
      if (style.anyWord !== true) return { ok: false, reason: `${word.text} may turn out to be an option` }
      operands.push(word)
      continue
    }
    if (text === '--') return { ok: true, options, operands: [...operands, ...words.slice(at + 1)] }
    const next = words[at + 1]
    const read = text.startsWith('--')
      ? readLong(text, next, table)
      : style.numbers === true && /^-[0-9]+$/.test(text)
        ? { options: [], used: 0 }
        : readShort(text, next, table, style.letters)
    if ('reason' in read) return { ok: false, reason: read.reason }
    options.push(...read.options)
    at += read.used
  }
  return { ok: true, options, operands }
}

type Read = { readonly options: readonly GivenOption[]; readonly used: 0 | 1 } | { readonly reason: string }

/** Reads a quoted `--name=…` whose name is known, but whose value is known only at run time. */
function readNamed(word: ShellWord, table: OptionTable): GivenOption | undefined {
  if (word.kind !== 'dynamic' || !word.single) return undefined
  const name = /^(--[a-z][a-z-]*)=/.exec(word.prefix)?.[1] ?? ''
  const takes = table.get(name)
  if (takes === undefined || takes === 'nothing') return undefined
  return { name, takes, value: { ...word, prefix: word.prefix.slice(name.length + 1) } }
}

function readLong(text: string, next: ShellWord | undefined, table: OptionTable): Read {
  const equals = text.indexOf('=')
  const name = equals < 0 ? text : text.slice(0, equals)
  const takes = table.get(name)
  if (takes === undefined) return { reason: `${name} is not an option known to be harmless` }
  if (equals >= 0) {
    if (takes === 'nothing') return { reason: `${name} takes no value` }
    return { options: [{ name, takes, value: { kind: 'static', text: text.slice(equals + 1) } }], used: 0 }
  }
  if (takes === 'nothing' || takes === 'attached') return { options: [{ name, takes, value: undefined }], used: 0 }
  const reason = reasonAgainst(name, next)
  return reason === undefined ? { options: [{ name, takes, value: next }], used: 1 } : { reason }
}

/**
 * Explains why the next word can't be taken for an option's value; undefined if it can. A word that looks like an option can't, because another
 * version of the program may read it as one.
 */
function reasonAgainst(name: string, next: ShellWord | undefined): string | undefined {
  if (next === undefined) return `${name} lacks its value`
  // If the word expands to several words, the words after it don't have the roles that they seem to have.
  if (next.kind === 'glob') return `${next.text} after ${name} may expand to several words`
  if (!mayBeOption(next) || /^-[0-9]+$/.test(next.text)) return undefined
  return `${next.text} after ${name} may be read as an option`
}

function readShort(text: string, next: ShellWord | undefined, table: OptionTable, letters: OptionStyle): Read {
  if (letters === 'apart')
    return text.includes('=')
      ? { reason: `${text} contains "=", so it is not a simple option` }
      : readLong(text, next, table)
  const options: GivenOption[] = []
  for (let at = 1; at < text.length; at++) {
    const name = `-${text[at] ?? ''}`
    const takes = table.get(name)
    if (takes === undefined) return { reason: `${name} is not an option known to be harmless` }
    if (takes === 'nothing') {
      options.push({ name, takes, value: undefined })
      continue
    }
    const attached = text.slice(at + 1)
    if (letters === 'last' && attached !== '') return { reason: `the value of ${name} is not a separate word` }
    if (attached !== '' || takes === 'attached') {
      const value: ShellWord | undefined = attached === '' ? undefined : { kind: 'static', text: attached }
      return { options: [...options, { name, takes, value }], used: 0 }
    }
    const reason = reasonAgainst(name, next)
    return reason === undefined ? { options: [...options, { name, takes, value: next }], used: 1 } : { reason }
  }
  return { options, used: 0 }
}
