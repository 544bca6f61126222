/** The kind of one line of a patch, by itself. */
export type LineKind = 'add' | 'delete' | 'update' | 'move' | 'anchor' | 'body' | 'end' | 'other'

const headers = [
  ['add', '*** Add File: '],
  ['delete', '*** Delete File: '],
  ['update', '*** Update File: '],
  ['move', '*** Move to: '],
] as const

/**
 * Classifies a line of a patch. `text` is the path of a header, the text of an anchor, a body's line with its mark.
 *
 * @param inUpdate whether it is in an update, where padding makes a header a context line
 */
export function scanLine(line: string, inUpdate: boolean): { readonly kind: LineKind; readonly text: string } {
  if (/^[+-]/.test(line) || (inUpdate && /^( |$)/.test(line))) return { kind: 'body', text: line }
  if (/^@@($| )/.test(line)) return { kind: 'anchor', text: line.slice(3) }
  const trimmed = line.trim()
  for (const [kind, prefix] of headers) {
    if (trimmed.startsWith(prefix)) return { kind, text: trimmed.slice(prefix.length) }
  }
  return { kind: /^\*\*\* End Patch( \*\*\*)?$/.test(trimmed) ? 'end' : 'other', text: line }
}
