import type { MalformedFailure } from '../patch-error.ts'
import { clip } from './clip.ts'
import { malformedHelp } from './malformed-help.ts'
import { showWhitespace } from './show-whitespace.ts'

const headers = "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"

/** The message for a patch that is malformed: Codex's wording, followed by advice. */
export function renderMalformed(failure: MalformedFailure): readonly string[] {
  return [...message(failure), ...malformedHelp(failure)]
}

function message({ code, patchLine, found: line = '' }: MalformedFailure): readonly string[] {
  const found = clip(line, 1000)
  const hunk = `Invalid patch hunk on line ${patchLine ?? 0}: `
  switch (code) {
    case 'not-utf8':
      return ['Failed to read PATCH from stdin.', 'stream did not contain valid UTF-8']
    case 'begin-missing':
      return [
        "Invalid patch: The first line of the patch must be '*** Begin Patch'",
        `  found: ${showWhitespace(found)}`,
      ]
    case 'unified-diff':
      return [
        "Invalid patch: The first line of the patch must be '*** Begin Patch'",
        `  found: ${showWhitespace(found)}`,
        "  this is a unified diff, which is a different format: apply it with 'git apply' or 'patch -p1', or write its changes between '*** Begin Patch' and '*** End Patch'",
      ]
    case 'end-missing':
      return [
        "Invalid patch: The last line of the patch must be '*** End Patch'",
        ...(found === ''
          ? ['  the patch is empty']
          : [
              `  found: ${showWhitespace(found)}`,
              '  a patch that was cut off is never applied in part; send it whole',
            ]),
      ]
    case 'environment-id-empty':
      return ['Invalid patch: apply_patch environment_id cannot be empty']
    case 'environment-id-repeated':
      return ['Invalid patch: apply_patch environment_id cannot be specified more than once']
    case 'not-a-header':
      return [`${hunk}'${found}' is not a valid hunk header. Valid hunk headers: ${headers}`]
    case 'update-empty':
      return [`${hunk}Update file hunk for path '${found}' is empty`]
    case 'chunk-empty':
      return [`${hunk}Update hunk does not contain any lines`]
    case 'unexpected-line':
      return [
        `${hunk}Unexpected line found in update hunk: '${found}'. ` +
          "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)",
      ]
    case 'chunk-expected':
      return [`${hunk}Expected update hunk to start with a @@ context marker, got: '${found}'`]
    case 'no-operations':
      return ['No files were modified.']
    case 'changes-directory':
      return [
        "Invalid patch: The first line of the patch must be '*** Begin Patch'",
        `  found: ${showWhitespace(found)}`,
        "  the command changes the directory, which apply-patch doesn't do; give the directory with --root",
      ]
    default:
      return code satisfies never
  }
}
