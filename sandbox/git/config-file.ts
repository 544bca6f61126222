/**
 * One setting in a git config file. Lists of settings are in the order of the file. Texts are in the form that `decodeText` returns.
 */
export type ConfigEntry = {
  /** The section's name, in lower case. */
  readonly section: string
  readonly subsection: string | undefined
  /** The setting's own name, in lower case. */
  readonly name: string
  /** The setting's value; undefined if the name has no value, which git reads as true. */
  readonly value: string | undefined
}

/** The name of a setting as git writes it: section, subsection and name, joined by dots. */
export function keyOf({ section, subsection, name }: ConfigEntry): string {
  return subsection === undefined ? `${section}.${name}` : `${section}.${subsection}.${name}`
}

/** Creates an entry from a value and its full key, as `git config --list` prints the key. */
export function entryOf(key: string, value: string | undefined): ConfigEntry {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  const subsection = first === last ? undefined : key.slice(first + 1, last)
  return { section: key.slice(0, first).toLowerCase(), subsection, name: key.slice(last + 1).toLowerCase(), value }
}

const isSpace = (character: string): boolean => /[ \t\n\v\f\r]/.test(character)

/**
 * Reads a git config file character by character, as git's own `config.c` does. Returns undefined if git would reject the file.
 *
 * @param text the file's content, in the form that `decodeText` returns
 */
export function parseConfigFile(text: string): readonly ConfigEntry[] | undefined {
  // A carriage return is an ordinary character only if no line feed follows it.
  const input = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  const entries: ConfigEntry[] = []
  let at = 0
  let header: { readonly section: string; readonly subsection: string | undefined } | undefined
  while (at < input.length) {
    const character = input[at] ?? ''
    if (isSpace(character)) at += 1
    else if (character === '#' || character === ';') at = endOfLine(input, at)
    else if (character === '[') {
      const read = readHeader(input, at + 1)
      if (read === undefined) return undefined
      ;({ at, header } = read)
    } else {
      const name = /^[A-Za-z][A-Za-z0-9-]*/.exec(input.slice(at, at + 1024))?.[0]
      if (name === undefined || header === undefined) return undefined
      at += name.length
      while (input[at] === ' ' || input[at] === '\t') at += 1
      const base = { ...header, name: name.toLowerCase() }
      if (at >= input.length || input[at] === '\n') entries.push({ ...base, value: undefined })
      else {
        const read = input[at] === '=' ? readValue(input, at + 1) : undefined
        if (read === undefined) return undefined
        entries.push({ ...base, value: read.value })
        ;({ at } = read)
      }
    }
  }
  return entries
}

function endOfLine(input: string, from: number): number {
  const end = input.indexOf('\n', from)
  return end === -1 ? input.length : end
}

function readHeader(
  input: string,
  from: number,
): { at: number; header: { section: string; subsection: string | undefined } } | undefined {
  const plain = /^[A-Za-z0-9.-]*/.exec(input.slice(from, from + 1024))?.[0] ?? ''
  let at = from + plain.length
  if (input[at] === ']') {
    const dot = plain.indexOf('.')
    const [section, subsection] = dot === -1 ? [plain, undefined] : [plain.slice(0, dot), plain.slice(dot + 1)]
    return { at: at + 1, header: { section: section.toLowerCase(), subsection: subsection?.toLowerCase() } }
  }
  if (!/[ \t]/.test(input[at] ?? '')) return undefined
  while (input[at] === ' ' || input[at] === '\t') at += 1
  if (input[at] !== '"') return undefined
  let subsection = ''
  for (at += 1; input[at] !== '"'; at += 1) {
    if (input[at] === '\\') at += 1
    const character = input[at]
    if (character === undefined || character === '\n') return undefined
    subsection += character
  }
  return input[at + 1] === ']' ? { at: at + 2, header: { section: plain.toLowerCase(), subsection } } : undefined
}

const escapes: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' }

function readValue(input: string, from: number): { readonly at: number; readonly value: string } | undefined {
  let [at, value, kept, quoted] = [from, '', 0, false]
  for (; ; at += 1) {
    const character = input[at]
    if (character === undefined || character === '\n') {
      // White space at the end of a line isn't part of the value.
      return quoted ? undefined : { at, value: value.slice(0, kept) }
    }
    if (!quoted && isSpace(character)) {
      if (kept > 0 || value !== '') value += character
      continue
    }
    if (!quoted && (character === '#' || character === ';')) {
      return { at: endOfLine(input, at), value: value.slice(0, kept) }
    }
    if (character === '\\') {
      at += 1
      const next = input[at]
      if (next === '\n') continue
      const escaped = next === undefined ? undefined : escapes[next]
      if (escaped === undefined) return undefined
      value += escaped
    } else if (character === '"') {
      quoted = !quoted
      kept = value.length
      continue
    } else value += character
    kept = value.length
  }
}

/** Returns the text of a config file with these settings, each in a form that all parsers read in the same way. */
export function writeConfigFile(entries: readonly ConfigEntry[]): string {
  let [text, last] = ['', '']
  for (const { section, subsection, name, value } of entries) {
    const header = subsection === undefined ? `[${section}]` : `[${section} "${subsection.replace(/[\\"]/g, '\\$&')}"]`
    if (header !== last) text += `${header}\n`
    last = header
    text += value === undefined ? `\t${name}\n` : `\t${name} = "${value.replace(/[\\"\n\t\b]/g, escaped)}"\n`
  }
  return text
}

function escaped(character: string): string {
  return `\\${{ '\n': 'n', '\t': 't', '\b': 'b' }[character] ?? character}`
}
