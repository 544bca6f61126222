import { bodyLines } from './match/prepare-chunks.ts'
import type { Chunk, Patch, PatchOperation } from './patch.ts'

/**
 * Prints a patch. Parsing the result gives the same patch again, except for line numbers. If a delete contains the lines of the file, only lenient mode can
 * parse it, because the format doesn't include such deletes.
 *
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n')
 * console.log(formatPatch(patch))
 */
export function formatPatch(patch: Patch): string {
  const pieces: Buffer[] = [Buffer.from('*** Begin Patch\n')]
  if (patch.environmentId !== undefined) pieces.push(Buffer.from(`*** Environment ID: ${patch.environmentId}\n`))
  for (const operation of patch.operations) pieces.push(...formatOperation(operation))
  pieces.push(Buffer.from('*** End Patch\n'))
  return Buffer.concat(pieces).toString()
}

function formatOperation(operation: PatchOperation): readonly Buffer[] {
  switch (operation.type) {
    case 'add':
      return [Buffer.from(`*** Add File: ${operation.path}\n`), Buffer.from(operation.body), ...remark(operation)]
    case 'delete':
      return [
        Buffer.from(`*** Delete File: ${operation.path}\n`),
        Buffer.from(operation.expected ?? []),
        ...remark(operation),
      ]
    case 'update': {
      const move = operation.moveTo === undefined ? '' : `*** Move to: ${operation.moveTo}\n`
      return [Buffer.from(`*** Update File: ${operation.path}\n${move}`), ...operation.chunks.flatMap(formatChunk)]
    }
    default:
      return operation satisfies never
  }
}

const noNewline = Buffer.from('\\ No newline at end of file\n')

function remark({ unterminated }: { readonly unterminated?: true }): readonly Buffer[] {
  return unterminated === true ? [noNewline] : []
}

/**
 * The body with the marker `\ No newline at end of file` after its last added line if the chunk removes the final newline, or after its last removed
 * line if the chunk adds one. If the chunk does neither, the body has no marker.
 */
function withRemark({ body, finalNewline }: Chunk): readonly Buffer[] {
  const lines = bodyLines(body)
  const last = lines.findLast(({ mark }) => mark === (finalNewline === 'absent' ? 'added' : 'removed'))
  if (finalNewline === undefined || last === undefined) return [Buffer.from(body)]
  return [Buffer.from(body.subarray(0, last.end + 1)), noNewline, Buffer.from(body.subarray(last.end + 1))]
}

function formatChunk(chunk: Chunk): readonly Buffer[] {
  const { anchors, hint, endOfFile } = chunk
  const lines = anchors.map(({ text }) => `@@ ${text}\n`)
  // A hint contains only the line numbers of the old file. The same numbers are printed for the new file, because nothing reads that part of the
  // header.
  if (hint !== undefined) {
    const { start, count, section } = hint
    lines.unshift(`@@ -${start},${count} +${start},${count} @@${section === undefined ? '' : ` ${section}`}\n`)
  }
  const head = lines.length === 0 ? '@@\n' : lines.join('')
  return [Buffer.from(head), ...withRemark(chunk), Buffer.from(endOfFile ? '*** End of File\n' : '')]
}
