/**
 * A shell's pattern in which every bracket matches any one character, which only finds more. A bracket ends as glob(7) specifies: not at one that
 * comes first in it, nor at that of a class such as `[:alpha:]`.
 */
export function plainGlob(pattern: string): string {
  let plain = ''
  for (let at = 0; at < pattern.length; at++) {
    const end = pattern[at] === '[' ? bracketEnd(pattern, at) : undefined
    plain += end === undefined ? pattern[at] : '?'
    at = end ?? at
  }
  return plain
}

/** The position where a bracket closes; undefined if it doesn't, and is literal. */
function bracketEnd(pattern: string, open: number): number | undefined {
  let at = open + 1
  if (/[!^]/.test(pattern[at] ?? '')) at++
  for (let first = true; at < pattern.length; at++, first = false) {
    if (pattern[at] === ']' && !first) return at
    const kind = pattern[at] === '[' ? pattern[at + 1] : undefined
    if (kind === undefined || !/[:.=]/.test(kind)) continue
    const close = pattern.indexOf(`${kind}]`, at + 2)
    if (close >= 0) at = close + 1
  }
  return undefined
}
