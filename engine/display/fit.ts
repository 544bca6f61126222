/** Characters that are two terminal columns wide: emoji and East Asian scripts. */
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u
// The segmenter is created when the first line is fitted, not earlier: creating it reads the system's locales, which a run without a terminal doesn't
// need.
let graphemes: Intl.Segmenter | undefined

function segmentsOf(text: string): Intl.Segments {
  return (graphemes ??= new Intl.Segmenter()).segment(text)
}

/**
 * Returns as much of a text (without escape sequences) as fits into `columns` columns. If the text is cut, the result ends with an ellipsis.
 */
export function fit(text: string, columns: number): string {
  let used = 0
  let kept = ''
  for (const { segment } of segmentsOf(text)) {
    used += wide.test(segment) ? 2 : 1
    if (used > columns) return `${dropLast(kept, columns)}…`
    kept += segment
  }
  return kept
}

/** Drops characters from the end of a text until an ellipsis fits after it. */
function dropLast(text: string, columns: number): string {
  const segments = [...segmentsOf(text)].map(({ segment }) => segment)
  const width = (): number => segments.reduce((sum, segment) => sum + (wide.test(segment) ? 2 : 1), 0)
  while (segments.length > 0 && width() >= columns) segments.pop()
  return segments.join('')
}
