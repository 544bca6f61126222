const blank = /[\s\u0085]/

/** Trims Unicode white space, as Rust does: NEL is trimmed, the byte-order mark isn't. */
export function trim(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text, from)) from++
  while (to > from && isBlank(text, to - 1)) to--
  return text.slice(from, to)
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code <= 0x20 ? blank.test(text[at] ?? '') : code > 0x7f && code !== 0xfeff && blank.test(text[at] ?? '')
}
