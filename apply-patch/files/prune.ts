import { foldersIn, forget } from './keep-journal.ts'
import { findStateDirectories, findStateRoots } from './state-directory.ts'
import { realDirectory } from './tree.ts'

/** What was removed. The patches can't be reverted by `undo` any more. */
type PruneReport = { readonly trees: number; readonly patches: number; readonly bytes: number }

/**
 * Removes the journals that are kept for `undo`: those of a tree or, if `root` is undefined, those of all trees of this user. Journals of commits that are running
 * or must still be recovered stay.
 */
export function prune(root: string | undefined): PruneReport {
  const folders =
    root === undefined
      ? findStateRoots(undefined).flatMap(foldersIn)
      : findStateDirectories(realDirectory(root), undefined)
  const removed = folders.map(forget).filter(({ patches }) => patches > 0)
  return {
    trees: removed.length,
    patches: removed.reduce((sum, { patches }) => sum + patches, 0),
    bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}
