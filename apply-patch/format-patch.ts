import type { Chunk, Patch, PatchOperation } from './patch.ts'

/**
 * Prints a patch. Parsing the result gives the same patch again, but for line numbers. A delete that names its lines
 * is an extension that only lenient mode reads.
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
      return [Buffer.from(`*** Add File: ${operation.path}\n`), Buffer.from(operation.body)]
    case 'delete':
      return [Buffer.from(`*** Delete File: ${operation.path}\n`), Buffer.from(operation.expected ?? [])]
    case 'update': {
      const move = operation.moveTo === undefined ? '' : `*** Move to: ${operation.moveTo}\n`
      return [Buffer.from(`*** Update File: ${operation.path}\n${move}`), ...operation.chunks.flatMap(formatChunk)]
    }
    default:
      return operation satisfies never
  }
}

function formatChunk({ anchors, hint, body, endOfFile }: Chunk): readonly Buffer[] {
  const lines = anchors.map(({ text }) => `@@ ${text}\n`)
  // A hint names the old file only; the new one's numbers say nothing that is read.
  if (hint !== undefined) lines.unshift(`@@ -${hint.start},${hint.count} +${hint.start},${hint.count} @@\n`)
  const head = lines.length === 0 ? '@@\n' : lines.join('')
  return [Buffer.from(head), Buffer.from(body), Buffer.from(endOfFile ? '*** End of File\n' : '')]
}
