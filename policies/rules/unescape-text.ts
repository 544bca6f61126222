/** Matches an escape: a backslash and the characters that belong to it, by Starlark's specification of string literals. */
const escape =
  /\\(?:(?<octal>[0-7]{1,3})|x(?<hex>[0-9a-fA-F]{2})|u(?<short>[0-9a-fA-F]{4})|U(?<long>[0-9a-fA-F]{8})|(?<other>[^]))/g

const letters: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\n': '' },
  ...{ '"': '"', "'": "'", '\\': '\\' },
}

/**
 * Decodes the text between the quotes of a string as Starlark does. An unnecessary backslash is kept. Undefined if `\x`, `\u` or `\U` stands for no
 * character.
 */
export function unescapeText(text: string): string | undefined {
  let sound = true
  const read = text.replace(escape, (...found) => {
    const [whole, groups] = [found[0] as string, found.at(-1) as Readonly<Record<string, string | undefined>>]
    const { octal, hex, short, long, other = '' } = groups
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
    const digits = hex ?? short ?? long
    const code = Number.parseInt(digits ?? '', 16)
    if (digits === undefined ? /[xuU]/.test(other) : code > 0x10_ffff) sound = false
    else if (digits !== undefined) return String.fromCodePoint(code)
    return letters[other] ?? whole
  })
  return sound ? read : undefined
}
