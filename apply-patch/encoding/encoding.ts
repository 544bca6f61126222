/** An encoding of text that is not UTF-8. */
export type Encoding = {
  /** Its name in messages. Two encodings with the same name are the same. */
  readonly name: string
  /** The text of some bytes, with its byte-order mark if there is one; undefined if the bytes aren't text in this encoding. */
  readonly decode: (bytes: Uint8Array) => string | undefined
  /** The bytes of a character; undefined if the encoding doesn't have it. */
  readonly encode: (character: string) => Uint8Array | undefined
  /** How many bytes an ASCII character takes: 2 in UTF-16. */
  readonly unit: 1 | 2
}

/**
 * Names that are used in declarations, but not known to `TextDecoder`: those of Python, Emacs and iconv. Before they are looked up, `_` becomes `-`, and
 * Emacs's suffix for line ends is removed.
 */
const aliases: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  'mac-roman': 'macintosh',
  macroman: 'macintosh',
  'utf-16le-bom': 'utf-16le',
}

/** Encodings with state, in which the same bytes mean different characters in different places. They can be read, but nothing is added to such a file. */
const stateful: ReadonlySet<string> = new Set(['iso-2022-jp', 'iso-2022-kr', 'hz-gb-2312', 'utf-7'])

/** The result of looking up the name of an encoding. `unknown`: it is no name of an encoding. */
export type Lookup = Encoding | 'utf-8' | 'unsupported' | 'unknown'

const known = new Map<string, Lookup>()

/**
 * Finds an encoding by a name that a file or a configuration uses for it.
 *
 * @param isHtml whether the name is that of an HTML page, where `iso-8859-1` means windows-1252
 */
export function findEncoding(label: string, isHtml: boolean): Lookup {
  const plain = label
    .trim()
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/-(?:unix|dos|mac)$/, '')
  const key = `${plain} ${isHtml}`
  const found = known.get(key) ?? lookUp(plain, isHtml)
  known.set(key, found)
  return found
}

function lookUp(plain: string, isHtml: boolean): Lookup {
  const decoder = [
    plain,
    aliases[plain],
    plain.replaceAll('-', '_'),
    plain.replaceAll('-', ''),
    plain.replace('iso-latin-', 'latin'),
  ]
    .map((name) => (name === undefined ? undefined : decoderOf(name)))
    .find((one) => one !== undefined)
  if (stateful.has(plain) || (decoder !== undefined && stateful.has(decoder.encoding))) return 'unsupported'
  if (/^utf-?32(?:-?[bl]e)?$|^ucs-?4/.test(plain)) return 'unsupported'
  if (decoder === undefined || decoder.encoding === 'x-user-defined') return 'unknown'
  const { encoding: name } = decoder
  if (name === 'utf-8') return 'utf-8'
  if (name === 'utf-16le' || name === 'utf-16be') return utf16(name)
  const isAscii = /^(?:us-)?ascii$|^ansi-x3\.4|^iso646|^646$/.test(plain)
  // Browsers read ISO-8859-1, -9 and -11 as the Windows encodings that extend them. Other programs don't: there, the extension's characters don't exist.
  const isNarrow = !isHtml && name.startsWith('windows-') && !/windows|cp125|874$/.test(plain)
  return tabulated(isAscii ? 'us-ascii' : isNarrow ? plain : name, name, isAscii ? 0x80 : isNarrow ? 0xa0 : undefined)
}

function decoderOf(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** An encoding of which `TextDecoder` knows only how it is decoded. The table for the other direction is made from that when it is first needed. */
function tabulated(name: string, decoderName: string, limit: number | undefined): Encoding {
  let table: ReadonlyMap<string, Uint8Array> | undefined
  const decoder = new TextDecoder(decoderName, { fatal: true, ignoreBOM: true })
  return {
    name,
    unit: 1,
    decode: (bytes) => (limit === 0x80 && bytes.some((byte) => byte >= 0x80) ? undefined : decodeWith(decoder, bytes)),
    encode: (character) => {
      if (character <= '\x7f') return Uint8Array.of(character.charCodeAt(0))
      table ??= makeTable(decoderName, limit)
      return table.get(character)
    },
  }
}

/** The bytes that are decoded as each character. If several are, they are the ones that the WHATWG standard encodes it as. */
function makeTable(decoderName: string, limit: number | undefined): ReadonlyMap<string, Uint8Array> {
  const table = new Map<string, Uint8Array>()
  const decoder = new TextDecoder(decoderName)
  const add = (sequences: readonly (readonly number[])[], isLater: boolean): void => {
    // No multi-byte character contains a line feed, so after each one the decoder starts anew, whatever was before.
    const texts = decoder.decode(Uint8Array.from(sequences.flatMap((bytes) => [...bytes, 10]))).split('\n')
    for (const [index, bytes] of sequences.entries()) {
      const character = texts[index] ?? ''
      if ([...character].length !== 1 || character === '\ufffd' || character <= '\x7f') continue
      if (isLater || !table.has(character)) table.set(character, Uint8Array.from(bytes))
    }
  }
  const from = limit === undefined || limit < 0xa0 ? (limit ?? 0x80) : limit
  if (limit !== 0x80 && decoderName !== 'gb18030')
    add(
      range(from, 0xff).map((byte) => [byte]),
      false,
    )
  const isMultiByte = /^(?:shift_jis|euc-jp|euc-kr|gbk|gb18030|big5)$/.test(decoderName)
  if (!isMultiByte) return table
  // Big5's extension for Hong Kong, and NEC's copies of IBM's characters in Shift_JIS, are only read.
  const leads = range(decoderName === 'big5' ? 0xa1 : 0x81, 0xfe).filter(
    (lead) => decoderName !== 'shift_jis' || (lead !== 0xed && lead !== 0xee),
  )
  const pairs = leads.flatMap((lead) => range(0x40, 0xfe).map((trail) => [lead, trail] as const))
  add(pairs, false)
  if (decoderName === 'big5') {
    const last = new Set(['\u2550', '\u255e', '\u2561', '\u256a', '\u5341', '\u5345'])
    for (const pair of pairs) if (last.has(decoder.decode(Uint8Array.from(pair)))) add([pair], true)
  }
  return table
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** UTF-16, the byte order of which is in its name. */
export function utf16(name: 'utf-16le' | 'utf-16be'): Encoding {
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true })
  return {
    name,
    unit: 2,
    decode: (bytes) => decodeWith(decoder, bytes),
    encode: (character) => {
      const bytes = Buffer.from(character, 'utf16le')
      return name === 'utf-16le' ? bytes : bytes.swap16()
    },
  }
}

function decodeWith(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Encodes a text. @returns the bytes, or the first character that the encoding doesn't have */
export function encodeText(text: string, { encode, unit }: Encoding): Buffer | { readonly missing: string } {
  const parts: Uint8Array[] = []
  for (let at = 0; at < text.length;) {
    let end = at
    if (unit === 1) while (end < text.length && text.charCodeAt(end) < 0x80) end++
    if (end > at) {
      parts.push(Buffer.from(text.slice(at, end), 'latin1'))
      at = end
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const bytes = encode(character)
    if (bytes === undefined) return { missing: character }
    parts.push(bytes)
    at += character.length
  }
  return Buffer.concat(parts)
}
