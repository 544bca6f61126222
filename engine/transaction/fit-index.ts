import { chmodSync, lstatSync, writeFileSync } from 'node:fs'
import { indexOfCopy, readHostFile } from '../../sandbox/index.ts'
import { largestIndex, type CleanFiles } from './clean-files.ts'
import type { CleanCopies } from './copy-record.ts'
import { placeOf } from './path-keys.ts'

/**
 * Adapts the copy of git's index in a copied tree: where an entry matched an original file, it now matches the copy of that file. If git wrote the index while
 * the tree was copied, its copy stays as it is, and git reads the files.
 */
export function fitIndex(to: string, index: CleanFiles['index'], copies: CleanCopies): void {
  const file = `${to}/.git/index`
  if (index === undefined || readHostFile(file, { maxBytes: largestIndex })?.equals(index.content) !== true) return
  const fitted = indexOfCopy(index.content, index.entries, (key) => {
    const stats = copies.get(key)
    return stats === 'linked' ? lstatSync(placeOf(to, key), { bigint: true, throwIfNoEntry: false }) : stats
  })
  // The copy has the permissions of the original, which may be read-only.
  chmodSync(file, lstatSync(file).mode | 0o200)
  writeFileSync(file, fitted)
}
