import type { Cause, SeekFailure } from '../patch-error.ts'
import { aroundDifference, clip, clipLines } from './clip.ts'
import { showWhitespace, escapeControls } from './show-whitespace.ts'

const shownLines = 100
const shownPlaces = 20

/** The message for a chunk with an anchor that isn't in the file, or with lines that match no place in the file or more than one. */
export function renderSeek(failure: SeekFailure): readonly string[] {
  const { code, absolute, hunk, chunk, patchLine, nearest, causes, fileLines = [] } = failure
  const expectedLines = clipLines(failure.expected, shownLines)
  const at = `  ${clip(failure.path, 300)}, hunk ${hunk}, chunk ${chunk}, patch line ${patchLine}: `
  const lines: string[] = []
  if (code === 'anchor-not-found') lines.push(`Failed to find context '${expectedLines[0] ?? ''}' in ${absolute}`)
  else if (code === 'ambiguous') lines.push(`Found expected lines more than once in ${absolute}:`, ...expectedLines)
  else lines.push(`Failed to find expected lines in ${absolute}:`, ...expectedLines)
  if (code === 'ambiguous') {
    lines.push(`${at}fits at lines ${listPlaces(fileLines)}; add lines of context until it fits only one of them`)
  } else if (causes.length === 0) lines.push(`${at}${missText(failure)}`)
  for (const cause of causes) lines.push(`${at}${causeText(cause)}`)
  if (nearest === undefined) return lines
  lines.push(`  closest is at line ${nearest.startLine}:`)
  for (const [index, text] of nearest.lines.entries()) {
    lines.push(`  ${String(nearest.startLine + index).padStart(6)} | ${escapeControls(clip(text, 300))}`)
  }
  const { difference } = nearest
  if (difference === undefined) return lines
  const [expected, found] = aroundDifference(difference.expected, difference.found ?? '')
  lines.push(
    `  first difference, line ${difference.fileLine}:`,
    `    expected: ${showWhitespace(expected)}`,
    `    found:    ${difference.found === undefined ? '(the file has no such line)' : showWhitespace(found)}`,
  )
  return lines
}

function missText({ code, nearest }: SeekFailure): string {
  if (code === 'anchor-not-found') {
    return 'no line of the file is equal to it; after "@@" comes a whole line of the file, or nothing'
  }
  return nearest === undefined
    ? 'the file contains neither these lines nor similar ones; read it again, and copy the old lines from it'
    : 'the file contains no such lines; write the old lines (context and -) exactly as they are in the file'
}

function listPlaces(lines: readonly number[]): string {
  return `${lines.slice(0, shownPlaces).join(', ')}${lines.length > shownPlaces ? ' and more' : ''}`
}

function causeText(cause: Cause): string {
  switch (cause.type) {
    case 'already-applied':
      return `already applied? the new lines are in the file at line ${cause.fileLine}; leave this chunk out`
    case 'above-previous-chunk':
      return `found at line ${cause.fileLine}, above the previous chunk or inside it; chunks must be in the order of the file`
    case 'above-anchor':
      return `found at line ${cause.fileLine}, above the "@@" line of this chunk; only the lines below it are searched`
    case 'in-another-file':
      return `not in this file, but in ${clip(cause.path, 300)} at line ${cause.fileLine}`
    case 'indentation':
      return `differs only in indentation from line ${cause.fileLine}`
    case 'uneven-indentation':
      return `differs in indentation from line ${cause.fileLine}, and not alike in all lines, so that it isn't known how far to indent the added ones; copy the old lines from the file`
    case 'punctuation':
      return `differs only in typographic punctuation from line ${cause.fileLine}`
    case 'white-space':
      return `differs only in white space from line ${cause.fileLine}`
    case 'letter-case':
      return `differs only in capitalization from line ${cause.fileLine}`
    case 'not-at-end-of-file':
      return `found at line ${cause.fileLine}, but not at the end of the file as "*** End of File" says; leave that line out`
    case 'anchor-is-part-of-line':
      return `an "@@" text must be a whole line; line ${cause.fileLine} contains it: write "@@ ${clip(cause.text, 300)}"`
    case 'encoding':
      return "the file is UTF-16; a UTF-8 patch can't match its lines"
    case 'empty-file':
      return 'the file is empty'
    case 'diff-headers':
      return 'its first lines may be the headers of a unified diff, which name another file: leave them out, or write "*** Update File:" with the path of that file'
    default:
      return cause satisfies never
  }
}
