/** The kind of one line of a patch, without regard to the lines around it. */
export type LineKind = 'add' | 'delete' | 'update' | 'move' | 'anchor' | 'body' | 'end' | 'other'

const headers = [
  ['add', '*** Add File: '],
  ['delete', '*** Delete File: '],
  ['update', '*** Update File: '],
  ['move', '*** Move to: '],
] as const

/**
 * Classifies a line of a patch. `text` is the path in a header, or the text after `@@` in an anchor. For all other kinds it is the whole line, including
 * a leading `+`, `-` or space.
 *
 * @param inUpdate whether the line is in an update, in which a header with leading spaces is a context line
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
