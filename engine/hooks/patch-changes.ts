import { parsePatch, PatchError } from '../../apply-patch/index.ts'

/** One file of a patch: the added and removed lines that the patch contains. */
export type PatchView = {
  readonly path: string
  readonly kind: 'add' | 'delete' | 'update'
  readonly text?: string
  readonly before?: string
}

/**
 * The changes of a patch by file, for hooks that inspect files: added lines (`text`) and removed ones (`before`). The patch isn't planned here, so a missing
 * file is noticed only when the patch is applied. An invalid patch has no files.
 */
export function patchChanges(text: string): readonly PatchView[] {
  try {
    return parsePatch(text).patch.operations.map((operation) => {
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
    })
  } catch (error) {
    if (error instanceof PatchError) return []
    throw error
  }
}

function linesOf(body: Uint8Array, mark: '+' | '-'): string {
  const lines = new TextDecoder().decode(body).split('\n')
  return lines.flatMap((line) => (line.startsWith(mark) ? [`${line.slice(1)}\n`] : [])).join('')
}
