/**
 * Finds a text that every match of a JavaScript regular expression contains: the longest that is easy to find, or undefined. With this text, another
 * program can rule out files without understanding the expression.
 *
 * @param ignoreCase if true, only an ASCII text is returned, because all programs agree on the case of ASCII letters
 */
export function requiredText(pattern: string, ignoreCase: boolean): string | undefined {
  // Escapes such as `\p` and `\1` don't stand for one fixed text that is easy to find.
  if (/\\[^dDwWsSbBnrtfv\W_]/.test(pattern)) return undefined
  let best = ''
  let run = ''
  const stop = (): void => {
    if (run.length > best.length) best = run
    run = ''
  }
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? ''
    const rest = pattern.slice(at)
    const quantifier = /^(?:[*?]|\{\d+(?:,\d*)?\})/.exec(rest)?.[0]
    if (quantifier !== undefined) {
      // The character before a quantifier may be absent or repeated, so it isn't part of the text.
      run = run.slice(0, -1)
      stop()
      at += quantifier.length - 1
    } else if (character === '|') {
      return undefined
    } else if (character === '[') {
      stop()
      const length = /^\[(?:\\[^]|[^\]\\])*\]/.exec(rest)?.[0].length
      if (length === undefined) return undefined
      at += length - 1
    } else if (character === '(') {
      stop()
      let depth = 0
      const parts = /\\[^]|\[(?:\\[^]|[^\]\\])*\]?|[()]/g
      parts.lastIndex = at
      let end: number | undefined
      for (let part = parts.exec(pattern); part !== null && end === undefined; part = parts.exec(pattern)) {
        if (part[0] === '(') depth++
        else if (part[0] === ')' && --depth === 0) end = part.index
      }
      if (end === undefined) return undefined
      at = end
    } else if (character === '\\' && !/^\\\w/.test(rest)) {
      run += pattern[++at] ?? ''
    } else if (character === '\\') {
      stop()
      at++
    } else if (character === '+') {
      stop()
    } else if (/[.^$]/.test(character) || /[\n\r\ud800-\udfff\ufffd]/.test(character)) {
      stop()
    } else if (ignoreCase && character > '\x7f') {
      stop()
    } else {
      run += character
    }
  }
  stop()
  return best.length < 2 || /[\n\r\ud800-\udfff\ufffd]/.test(best) || (ignoreCase && /[^\x00-\x7f]/.test(best))
    ? undefined
    : best
}
