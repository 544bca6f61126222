import process from 'node:process'
import {
  PatchError,
  type Cause,
  type DifferenceFailure,
  type Failure,
  type PlaceFailure,
  type SeekFailure,
} from '../errors.ts'
import { CommitError, PathError, ReadError } from '../files/index.ts'
import { clip, clipLines } from './clip.ts'
import { renderCommitError } from './render-commit-error.ts'
import { renderMalformed, visible } from './render-malformed.ts'

/**
 * The message for any error of this library, first line as Codex words it, all failures one after the other, each
 * with what its reader needs to write a patch that fits. Without a final line end.
 */
export function renderFailure(error: unknown): string {
  if (error instanceof PatchError) {
    const { failures, complete } = error
    const shown = failures.slice(0, shownFailures).map((failure) => renderOne(failure).join('\n'))
    const more = failures.length - shownFailures
    if (!complete) shown.push(`(more than ${more} more failures; the rest of the patch was not looked at)`)
    else if (more > 0) shown.push(`(${more} more failures)`)
    return [...shown, 'Nothing was changed.'].join('\n')
  }
  if (error instanceof CommitError) return renderCommitError(error)
  if (error instanceof PathError) return `${error.path}: ${reasonText(error.code, error.errno ?? error.resolved)}`
  if (error instanceof ReadError) return `${error.path}: ${reasonText(error.errno, undefined)}`
  if (error instanceof Error && error.name === 'AbortError') return 'Interrupted. Nothing was changed.'
  return `Unexpected error: ${(error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''}`
}

/** A model learns from the first of many; `failures` has more. */
const shownFailures = 50
const shownLines = 100
const shownPlaces = 20

function renderOne(failure: Failure): readonly string[] {
  switch (failure.code) {
    case 'read':
    case 'write':
    case 'delete':
    case 'reverse':
      return renderPlace(failure)
    case 'difference':
      return renderDifference(failure)
    case 'anchor-not-found':
    case 'lines-not-found':
    case 'ambiguous':
      return renderSeek(failure)
    default:
      return renderMalformed(failure)
  }
}

function renderPlace(failure: PlaceFailure): readonly string[] {
  const { code, hunk, patchLine, reason, detail } = failure
  const path = clip(failure.path, 300)
  const absolute = clip(failure.absolute, longestPath)
  if (reason === 'invalid-path' && failure.path.includes('\0'))
    return [`'${path.replaceAll('\0', '\\0')}' is invalid on '${process.platform}'`]
  const where = `  ${path}, hunk ${hunk}, patch line ${patchLine}: ${reasonText(reason, detail)}`
  switch (code) {
    case 'read':
      return [`Failed to read file to update ${readReason(absolute, reason)}`, where]
    case 'write':
      return [`Failed to write file ${absolute}`, where]
    case 'delete':
      return [`Failed to delete file ${absolute}`, where]
    case 'reverse':
      return [`Failed to reverse the patch for ${path}`, where]
    default:
      return code satisfies never
  }
}

function renderDifference({ path, reason }: DifferenceFailure): readonly string[] {
  const why =
    reason === 'not-text'
      ? 'its content is not UTF-8 text, before or after; a patch can delete or rename such a file, but not hold its bytes'
      : 'its name has a line end, or white space at its ends, which a header of the format can not hold'
  return [`Failed to express the change of ${JSON.stringify(clip(path, 300))} as a patch`, `  ${why}`]
}

/** No valid path is longer; the system's own limit is 4,095 bytes. */
const longestPath = 5000

/** Codex words it as Rust does. */
function readReason(absolute: string, reason: string): string {
  switch (reason) {
    case 'missing':
    case 'not-a-directory':
      return `${absolute}: No such file or directory (os error 2)`
    case 'EACCES':
    case 'unreadable':
      return `${absolute}: Permission denied (os error 13)`
    case 'link-loop':
      return `${absolute}: Symbolic link loop (os error 40)`
    case 'is-directory':
    case 'not-a-file':
      return `${absolute}: path \`${absolute}\` is not a file`
    default:
      return absolute
  }
}

/** What a reason means, and what to do about it where there is something. */
function reasonText(reason: string, detail: string | undefined): string {
  const to = detail === undefined ? '' : ` (${detail})`
  const texts: Readonly<Record<string, string>> = {
    missing: 'there is no such file; check the spelling, or use "*** Add File:"',
    exists: 'the file exists already; use "*** Update File:", or leave --strict out',
    'is-directory': 'it is a directory',
    'not-a-file': 'it is not a regular file',
    'content-differs': 'the file does not hold exactly the lines to be deleted',
    'needed-later': 'a file is there that a later hunk moves; it would be lost. Move it out of the way first',
    'not-a-directory': `something on the way is a file, not a directory${to}`,
    'outside-root': `it leads out of the root${to}; --unsafe-paths would allow it`,
    protected: `it is git's own data${to}; --unsafe-paths would allow it`,
    'invalid-path': 'it can not be a path',
    'link-loop': 'its symbolic links go round in a circle',
    'too-long': 'the path or a name in it is too long',
    unreadable: `it can not be read${to}`,
    EACCES: 'permission denied (EACCES)',
    'no-content': 'what it held is not in the patch; "apply-patch undo" may have it',
    'no-place': 'nothing in the patch says where its removed lines stood; give it context lines',
  }
  return texts[reason] ?? `${reason}${to}`
}

function renderSeek(failure: SeekFailure): readonly string[] {
  const { code, absolute, hunk, chunk, patchLine, nearest, causes, fileLines = [] } = failure
  const sought = clipLines(failure.sought, shownLines)
  const at = `  ${clip(failure.path, 300)}, hunk ${hunk}, chunk ${chunk}, patch line ${patchLine}: `
  const lines: string[] = []
  if (code === 'anchor-not-found') lines.push(`Failed to find context '${sought[0] ?? ''}' in ${absolute}`)
  else if (code === 'ambiguous') lines.push(`Found expected lines more than once in ${absolute}:`, ...sought)
  else lines.push(`Failed to find expected lines in ${absolute}:`, ...sought)
  if (code === 'ambiguous') {
    lines.push(
      `${at}fits at lines ${listPlaces(fileLines)}; add context lines or an "@@ <a whole line above>" to tell them apart`,
    )
  } else if (causes.length === 0) lines.push(`${at}${code === 'anchor-not-found' ? 'no such line' : 'no such lines'}`)
  for (const cause of causes) lines.push(`${at}${causeText(cause)}`)
  if (nearest === undefined) return lines
  lines.push(`  closest is at line ${nearest.startLine}:`)
  for (const [index, text] of nearest.lines.entries()) {
    lines.push(`  ${String(nearest.startLine + index).padStart(6)} | ${text.slice(0, 300)}`)
  }
  const { difference } = nearest
  if (difference === undefined) return lines
  const found = difference.found === undefined ? '(the file ends before it)' : visible(difference.found)
  lines.push(
    `  first difference, line ${difference.fileLine}:`,
    `    expected: ${visible(difference.expected)}`,
    `    found:    ${found}`,
  )
  return lines
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
    case 'in-another-file':
      return `not in this file, but in ${clip(cause.path, 300)} at line ${cause.fileLine}`
    case 'indentation':
      return `differs only in indentation from line ${cause.fileLine}`
    case 'punctuation':
      return `differs only in typographic punctuation from line ${cause.fileLine}`
    case 'white-space':
      return `differs only in white space from line ${cause.fileLine}`
    case 'letter-case':
      return `differs only in upper and lower case from line ${cause.fileLine}`
    case 'line-endings':
      return `differs only in line endings: the file has lone carriage returns, near line ${cause.fileLine}`
    case 'not-at-end-of-file':
      return `found at line ${cause.fileLine}, but not at the end of the file as "*** End of File" says; leave that line out`
    case 'anchor-is-part-of-line':
      return `an "@@" text must be a whole line; line ${cause.fileLine} holds it: write "@@ ${clip(cause.text, 300)}"`
    case 'encoding':
      return 'the file is UTF-16; its lines can not be matched by a UTF-8 patch'
    case 'empty-file':
      return 'the file is empty'
    default:
      return cause satisfies never
  }
}
