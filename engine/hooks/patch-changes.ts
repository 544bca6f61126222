import { parsePatch, PatchError, withoutPrefix, type PatchOperation } from '../../apply-patch/index.ts'

/** What a patch does to one file: the lines that it adds (`text`) and removes (`before`). */
export type PatchView = {
  readonly path: string
  readonly kind: 'add' | 'delete' | 'update'
  readonly text?: string
  readonly before?: string
}

/**
 * Returns the changes of a patch by file, for hooks that inspect files. The patch is only parsed, so a missing file is noticed only when the patch is applied.
 * For an invalid patch, the result is empty.
 */
export function patchChanges(text: string): readonly PatchView[] {
  try {
    return parsePatch(text).patch.operations.flatMap((operation) => bothReadings(viewOf(operation)))
  } catch (error) {
    if (error instanceof PatchError) return []
    throw error
  }
}

/** A path with the prefix of a diff may mean the file without it. Which one is meant is known only when the patch is applied, so hooks judge both. */
function bothReadings(view: PatchView): readonly PatchView[] {
  const plain = withoutPrefix(view.path)
  return plain === undefined ? [view] : [view, { ...view, path: plain }]
}

function viewOf(operation: PatchOperation): PatchView {
  switch (operation.type) {
    case 'add':
      return { path: operation.path, kind: 'add', text: linesOf(operation.body, '+') }
    case 'delete':
      return { path: operation.path, kind: 'delete' }
    case 'update': {
      const bodies = operation.chunks.map(({ body }) => body)
      return {
        path: operation.moveTo ?? operation.path,
        kind: 'update',
        text: bodies.map((body) => linesOf(body, '+')).join(''),
        before: bodies.map((body) => linesOf(body, '-')).join(''),
      }
    }
    default:
      return operation satisfies never
  }
}

function linesOf(body: Uint8Array, mark: '+' | '-'): string {
  const lines = new TextDecoder().decode(body).split('\n')
  return lines.flatMap((line) => (line.startsWith(mark) ? [`${line.slice(1)}\n`] : [])).join('')
}
