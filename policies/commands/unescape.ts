/** Removes the backslashes from text outside of quotes and expansions, as bash does. The text must not contain continued lines. */
export function unescapePlain(text: string): string {
  return text.includes('\\') ? text.replace(/\\([^])/g, '$1') : text
}

/** Removes the backslashes from text between double quotes, as bash does. */
export function unescapeQuoted(text: string): string {
  return text.includes('\\') ? text.replace(/\\(?:\n|([$`"\\]))/g, '$1') : text
}

const letters: Readonly<Record<string, string>> = {
  ...{ a: '\u0007', b: '\b', e: '\u001b', E: '\u001b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
}

/** Decodes the text between the quotes of `$'…'`. Undefined if the text contains an escape that isn't supported. */
export function decodeAnsi(text: string): string | undefined {
  let isPlain = true
  const decoded = text.replace(/\\(?:x([0-9a-fA-F]{2})(?![0-9a-fA-F])|([0-7]{3})|([^]?))/g, (_, hex, octal, letter) => {
    const code = hex === undefined ? parseInt(String(octal), 8) : parseInt(String(hex), 16)
    // A NUL would end the text, and the meaning of bytes beyond ASCII depends on the locale.
    if (letter === undefined) {
      isPlain &&= code > 0 && code < 128
      return String.fromCharCode(code)
    }
    isPlain &&= Object.hasOwn(letters, String(letter))
    return letters[String(letter)] ?? ''
  })
  return isPlain ? decoded : undefined
}
