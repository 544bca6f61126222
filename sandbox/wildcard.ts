/**
 * Creates a function that tests whether a text matches a pattern. In the pattern, `*` stands for any text and, with `question`, `?` stands for one
 * character. The function backtracks only to the last star, so the work is at most proportional to the product of both lengths.
 */
export function wildcard(pattern: string, { question = false } = {}): (text: string) => boolean {
  return (text) => {
    let [part, at] = [0, 0]
    let retry: { readonly part: number; at: number } | undefined
    while (at < text.length || part < pattern.length) {
      const wanted = pattern[part]
      if (wanted === '*') retry = { part: ++part, at }
      else if (at < text.length && (wanted === text[at] || (wanted === '?' && question))) {
        part++
        at++
      } else if (retry !== undefined && retry.at < text.length) {
        part = retry.part
        at = ++retry.at
      } else return false
    }
    return true
  }
}
