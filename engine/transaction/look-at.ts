import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync } from 'node:fs'
import process from 'node:process'
import type { Change, FileState, Tree } from '../../apply-patch/index.ts'
import type { Side } from './change-record.ts'

/** The entry at a path. `hash`: the SHA-256 of a file's bytes, which are not kept in memory. `mode`: the mode of a directory. */
export type Found = { readonly now: FileState; readonly hash: string; readonly mode: number | undefined }

/** @param isGone whether a link on the way to the place counts as missing */
export function lookAt(tree: Tree, place: Change['place'], isGone: (key: string) => boolean): Found {
  // If the file is replaced in the meantime, it is read again from the start.
  let sum = createHash('sha256')
  const see = (chunk: Uint8Array, at: number): void => {
    if (at === 0) sum = createHash('sha256')
    sum.update(chunk)
  }
  const now = tree.look(place, see, isGone)
  const stats = now.type === 'directory' ? lstatSync(place.key, { throwIfNoEntry: false }) : undefined
  const mode = stats === undefined ? undefined : stats.mode & 0o7777
  return { now, hash: now.type === 'unread' ? sum.digest('hex') : '', mode }
}

/** Whether the bytes, the mode and the link target of the current entry match one side of a change. */
export function isSide({ now, hash, mode }: Found, side: Side): boolean {
  switch (side.type) {
    case 'absent':
      return now.type === 'absent'
    case 'symlink':
      return now.type === 'symlink' && now.target === side.target
    case 'directory':
      return now.type === 'directory' && mode === side.mode
    case 'file':
      return now.type === 'unread' && now.mode === side.mode && now.size === side.size && side.hash === hash
    default:
      return side satisfies never
  }
}

/**
 * Whether a file belongs to another user and can't be written. In the view it could be written, because there it is a copy that belongs to the current user.
 */
export function belongsToOthers(now: FileState, file: string): boolean {
  if (now.type !== 'unread' || now.uid === process.geteuid?.()) return false
  try {
    accessSync(file, constants.W_OK)
    return false
  } catch {
    return true
  }
}
