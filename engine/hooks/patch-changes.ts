import { parsePatch, PatchError } from '../../apply-patch/index.ts'

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
