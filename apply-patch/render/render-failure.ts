import { PatchError, type DifferenceFailure, type Failure } from '../patch-error.ts'
import { CommitError, PathError, ReadError } from '../files/index.ts'
import { clip } from './clip.ts'
import { renderCommitError } from './render-commit-error.ts'
import { renderMalformed } from './render-malformed.ts'
import { reasonText, renderPlace } from './render-place.ts'
import { renderSeek } from './render-seek.ts'
import { more } from '../text/more.ts'

/**
 * The message for any error of this library. If Codex reports the same problem, the first line has Codex's wording. For a refused patch, the failures
 * are listed, at most 50 of them, each with the information that is needed to write a patch that applies. The message does not end with a newline.
 *
 * @example
 * try {
 *   parsePatch('nonsense')
 * } catch (error) {
 *   console.error(renderFailure(error))
 * }
 */
export function renderFailure(error: unknown): string {
  if (error instanceof PatchError) {
    const { failures, complete } = error
    const shown = failures.slice(0, shownFailures).map((failure) => renderOne(failure).join('\n'))
    const hidden = failures.length - shownFailures
    if (!complete) shown.push(`(over ${more(hidden, 'failure')}; the rest of the patch was not examined)`)
    else if (hidden > 0) shown.push(`(${more(hidden, 'failure')})`)
    return [...shown, 'Nothing was changed.'].join('\n')
  }
  if (error instanceof CommitError) return renderCommitError(error)
  if (error instanceof PathError)
    return `${inLine(error.path)}: ${reasonText(error.code, error.errno ?? error.resolved)}`
  if (error instanceof ReadError) return `${inLine(error.path)}: ${reasonText(error.errno, undefined)}`
  if (error instanceof Error && error.name === 'AbortError') return 'Interrupted. Nothing was changed.'
  return `Unexpected error: ${(error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''}`
}

/** A path as a part of a line, which a line feed in a file's name must not end. */
function inLine(path: string): string {
  return path.replaceAll('\n', '⏎')
}

/** The maximum number of failures in a message. A model needs no more than that; all failures are in the error's `failures`. */
const shownFailures = 50

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

const differences: Readonly<Record<DifferenceFailure['reason'], string>> = {
  'not-text':
    "its content is not UTF-8 text before or after the change; a patch can delete or rename such a file, but can't contain its bytes",
  path: "its name contains a line break, begins or ends with white space, or ends with a space and stars; a patch's headers can't contain such a name",
  mode: "it can be executed only before or only after the change; a patch can't express that: change the file's mode separately",
  'too-large':
    'the folder has more than a million entries, or more than 1 GiB in its files: compare a smaller folder, or give the pairs of files that differ',
}

function renderDifference({ path, reason }: DifferenceFailure): readonly string[] {
  const why = differences[reason]
  return [`Failed to express the change to ${JSON.stringify(clip(path, 300))} as a patch`, `  ${why}`]
}
