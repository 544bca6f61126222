/** Characters that take two columns of a terminal: emoji, and the scripts of East Asia. */
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u
// Made when the first line is fitted: it reads the locales of the system, which no run without a terminal needs.
let graphemes: Intl.Segmenter | undefined

function segmentsOf(text: string): Intl.Segments {
  return (graphemes ??= new Intl.Segmenter()).segment(text)
}

/** As much of a text, without escape sequences, as fits into so many columns; its end shows that something is missing. */
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

/** Room for the mark that something is missing. */
function dropLast(text: string, columns: number): string {
  const segments = [...segmentsOf(text)].map(({ segment }) => segment)
  const width = (): number => segments.reduce((sum, segment) => sum + (wide.test(segment) ? 2 : 1), 0)
  while (segments.length > 0 && width() >= columns) segments.pop()
  return segments.join('')
}
