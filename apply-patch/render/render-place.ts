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

/** No valid path is longer; the system's own limit is 4,095 bytes. */
const longestPath = 5000

/** Codex words it as Rust does. */
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
    ? 'there is no such file; if it is gone already, leave this operation out'
    : 'there is no such file; check the path, which starts from the root, or make the file with "*** Add File:"'
}

/** What a reason means, and what to do about it where there is something. */
export function reasonText(reason: string, detail: string | undefined): string {
  const to = detail === undefined ? '' : ` (${detail})`
  const texts: Readonly<Record<string, string>> = {
    gone: `there is no such file any more${to}`,
    exists: 'the file exists already; use "*** Update File:", or leave --strict out',
    'is-directory': 'it is a directory; a patch is about the files in it',
    'not-a-file': 'it is not a regular file',
    'content-differs': 'the file does not hold exactly the lines to be deleted',
    'needed-later': 'a file is there that a later hunk moves; it would be lost. Move it out of the way first',
    'not-a-directory': `something on the way is a file, not a directory${to}`,
    'outside-root': `it leads out of the root${to}`,
    protected: `it is git's own data${to}`,
    'invalid-path': 'it can not be a path',
    'link-loop': 'its symbolic links go round in a circle',
    'too-long': 'the path or a name in it is too long',
    unreadable: detail === undefined ? 'it can not be read' : `it can not be read: ${errnoText(detail)}`,
    'no-content': 'what it held is not in the patch; "apply-patch undo" may have it',
    'no-place': 'nothing in the patch says where its removed lines stood; give it context lines',
  }
  return texts[reason] ?? `${errnoText(reason)}${to}`
}
