import type { Operation } from './git-headers.ts'
import { pathOf } from './line-texts.ts'

/** The kind of a line of a patch, or of a run of lines. */
export type TokenKind =
  | 'begin'
  | 'end'
  | 'environment'
  | 'add'
  | 'delete'
  | 'update'
  | 'move'
  | 'late-move'
  | 'anchor'
  | 'git-header'
  | 'body'
  | 'added'
  | 'removed'
  | 'end-of-file'
  | 'end-of-added'
  | 'blank'
  | 'other'

/** What the lines above say about a line: whether they are in an update, the kind of the last of them, and whether only blank lines are between it and a header. */
export type Above = { readonly inUpdate: boolean; readonly last: TokenKind | undefined; readonly isAtTop: boolean }

export const nothingAbove: Above = { inUpdate: false, last: undefined, isAtTop: false }

/** What is above a line if the last of the lines above it is of this kind. */
export function below(above: Above, kind: TokenKind): Above {
  const isHeading = isHeader(kind) || kind === 'move' || kind === 'late-move'
  return {
    inUpdate: isHeader(kind) ? kind === 'update' : above.inUpdate,
    last: kind,
    isAtTop: isHeading ? kind !== 'delete' : kind === 'blank' && above.isAtTop && above.inUpdate,
  }
}

/** Whether a token of this kind begins an operation. */
export function isHeader(kind: TokenKind | undefined): kind is 'add' | 'delete' | 'update' {
  return kind === 'add' || kind === 'delete' || kind === 'update'
}

/** The operation that a line belongs to after one of its headers: that of an operation, or the path to move to. */
export function operationAt(before: Operation, kind: TokenKind, header: string): Operation {
  const { path, undecorated = path } = pathOf(header.replace(/\n$/, ''), false)
  return isHeader(kind)
    ? { adds: kind === 'add', paths: [undecorated] }
    : { ...before, paths: [...before.paths, undecorated] }
}
