/**
 * Returns the candidate that is most similar to a mistyped word, regardless of case; undefined if none is similar enough. The Levenshtein distance
 * must be less than the length of the mistyped word, and at most two or a third of the longer word's length, whichever is more.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    const near = distance < word.length && distance <= Math.max(2, Math.max(word.length, candidate.length) / 3)
    if (near && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

/** The Levenshtein distance: how many letters must be added, removed or replaced to turn one word into the other. */
export function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
