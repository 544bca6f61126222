import process from 'node:process'
import type { PlaceFailure } from '../patch-error.ts'
import { clip } from './clip.ts'
import { errnoText } from './errno-text.ts'

/** The message for a path that can't be read, written or removed. */
export function renderPlace(failure: PlaceFailure): readonly string[] {
  const { code, hunk, patchLine, reason, detail } = failure
  const path = clip(failure.path, 300)
  const absolute = clip(failure.absolute, longestPath)
  if (reason === 'invalid-path' && failure.path.includes('\0'))
    return [`'${path.replaceAll('\0', '\\0')}' is invalid on '${process.platform}'`]
  const why = reason === 'missing' ? missingText(failure) : reasonText(reason, detail)
  const where = `  ${path}, hunk ${hunk}, patch line ${patchLine}: ${why}`
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

/** The number of characters after which a path is cut in a message. Valid paths are never cut, because the system's own limit is 4,095 bytes. */
const longestPath = 5000

/** Why a file can't be read, in Rust's wording, which Codex uses. */
function readReason(absolute: string, reason: string): string {
  switch (reason) {
    case 'missing':
    case 'gone':
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

function missingText({ code, near }: PlaceFailure): string {
  if (near !== undefined) {
    return `there is no such file; did you mean ${near.map((path) => clip(path, 300)).join(', or ')}?`
  }
  return code === 'delete'
    ? 'there is no such file; if it was already removed, leave this operation out'
    : 'there is no such file; check the path, which is relative to the root, or create the file with "*** Add File:"'
}

/** The `reason` of a failure in words, with advice if there is any. */
export function reasonText(reason: string, detail: string | undefined): string {
  const to = detail === undefined ? '' : ` (${detail})`
  const texts: Readonly<Record<string, string>> = {
    gone: `the file no longer exists${to}`,
    exists: 'the file exists already; use "*** Update File:", or leave --strict out',
    'is-directory': 'it is a directory; name the files in it instead',
    'not-a-file': 'it is not a regular file',
    'too-large':
      'the file is larger than 512 MiB, which is the most that a patch changes or moves; use another program for it',
    'content-differs': "the file's content is not exactly the lines to be deleted",
    'needed-later': 'the existing file would be lost, but a later hunk moves it; move that file first',
    'not-a-directory': `one of its parents is a file, not a directory${to}`,
    'outside-root': `it leads out of the root${to}`,
    protected: `it is git's own data${to}`,
    'invalid-path': 'it is not a valid path',
    'link-loop': 'its symbolic links form a loop',
    'too-long': 'the path or a name in it is too long',
    unreadable: detail === undefined ? "it can't be read" : `it can't be read: ${errnoText(detail)}`,
    'encoding-unknown': String(detail),
    'encoding-mismatch': `its encoding is uncertain${to}; correct the declaration or convert the file`,
    'encoding-conflict': `its encoding is uncertain${to}; make the declarations agree`,
    'encoding-unsupported': `text can't be added in its encoding${to}; convert the file to UTF-8`,
    'encoding-lacks': `the file's encoding has no such character${to}`,
    'no-content': 'its old content is not in the patch; "apply-patch undo" may restore it',
    'no-place': "the patch doesn't say where its removed lines were; add context lines",
  }
  return texts[reason] ?? `${errnoText(reason)}${to}`
}
