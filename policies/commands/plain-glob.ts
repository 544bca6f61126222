/**
 * Simplifies a shell's pattern so that every bracket expression matches any one character, which can only add matches. A bracket expression ends as glob(7)
 * specifies: not at a `]` that comes first in it, and not at the `]` of a class such as `[:alpha:]`.
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

/** The position where a bracket expression closes. Undefined if it doesn't close, in which case the opening bracket is literal. */
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
