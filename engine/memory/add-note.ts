/** The result of adding a note: the new text, `same` if the section already contains the note, or the problem that prevents the addition. */
type WithNote = { readonly text: string } | { readonly same: true } | { readonly problem: string }

type Line = { readonly text: string; readonly end: string; readonly start: number }

/**
 * Adds a note to a section of a Markdown text, as the last item before any nested section. A missing section is added at the end. All other bytes
 * stay as they are, and added lines get the line endings that the text uses. A note that the section already contains is not added again.
 *
 * @param section the heading's text; case and level don't matter
 * @param note one line, without a list marker
 */
export function addNote(text: string, section: string, note: string): WithNote {
  const lines = linesOf(text)
  const { headings, isOpen } = headingsIn(lines)
  if (isOpen) return { problem: 'a code block in it is never closed' }
  const end = lines.some((line) => line.end === '\r\n') ? '\r\n' : '\n'
  const found = headings.findIndex(({ title }) => title.toLowerCase() === section.toLowerCase())
  const heading = headings[found]
  if (heading === undefined) {
    const last = lines.at(-1)
    const gap = last === undefined || last.text.trim() === '' ? '' : end
    return { text: insert(text, text.length, [`${gap}## ${section}`, '', `- ${note}`], end) }
  }
  const body = lines.slice(heading.at + 1, headings[found + 1]?.at)
  if (body.some((line) => /^\s*[-*+]\s+/.test(line.text) && line.text.replace(/^\s*[-*+]\s+/, '').trim() === note)) {
    return { same: true }
  }
  const last = body.findLast((line) => line.text.trim() !== '') ?? lines[heading.at]
  if (last === undefined) throw new TypeError('a heading must be one of the lines')
  // The note extends an existing list, or starts a list after an empty line.
  const goesOn = /^(?:\s*(?:[-*+]|\d+[.)])\s|\s+\S)/.test(last.text)
  const at = last.start + last.text.length + last.end.length
  return { text: insert(text, at, [...(goesOn ? [] : ['']), `- ${note}`], end) }
}

/** Inserts lines at an offset. The resulting text ends with a line ending only if the original does or is empty. */
function insert(text: string, at: number, added: readonly string[], end: string): string {
  const before = text.slice(0, at)
  const chunk = added.join(end)
  const isWhole = before === '' || /\n$/.test(before)
  return `${before}${isWhole ? `${chunk}${end}` : `${end}${chunk}`}${text.slice(at)}`
}

function linesOf(text: string): readonly Line[] {
  let start = 0
  return text.split(/(?<=\n)/).flatMap((piece) => {
    if (piece === '') return []
    const end = /\r?\n$/.exec(piece)?.[0] ?? ''
    const line = { text: piece.slice(0, piece.length - end.length), end, start }
    start += piece.length
    return [line]
  })
}

/** Finds the headings outside code blocks, each with its line index, and whether a code block is still open at the end. */
function headingsIn(lines: readonly Line[]): {
  readonly headings: readonly { readonly at: number; readonly title: string }[]
  readonly isOpen: boolean
} {
  const headings: { readonly at: number; readonly title: string }[] = []
  let fence: string | undefined
  for (const [at, { text }] of lines.entries()) {
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1]
    if (fence !== undefined) {
      if (marker?.startsWith(fence) === true && text.trim() === marker) fence = undefined
      continue
    }
    if (marker !== undefined) fence = marker
    const title = titleOf(text)
    if (title !== undefined) headings.push({ at, title })
  }
  return { headings, isOpen: fence !== undefined }
}

/** Returns a heading's text without its `#` marks; undefined if the line isn't a heading. */
function titleOf(line: string): string | undefined {
  const marks = /^\ufeff? {0,3}#{1,6}[ \t]/.exec(line)?.[0]
  if (marks === undefined) return undefined
  const said = line.slice(marks.length).trim()
  let end = said.length
  while (said[end - 1] === '#') end--
  return end === 0 || /[ \t]/.test(said[end - 1] ?? '') ? said.slice(0, end).trimEnd() : said
}
