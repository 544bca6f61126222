import { dirname } from 'node:path'
import type { Change, ChangeSet } from '../change-set.ts'
import { isInside, type Tree } from '../files/index.ts'

/**
 * The tree that changes are made in, which is claimed for their commit and where a crash is found again: the one of those
 * they were planned in that holds them all, else the nearest directory around several of them, of which only these may be changed.
 */
export function changedTree(
  changes: readonly Change[],
  { root, beside, unsafePaths }: Tree,
): Pick<ChangeSet, 'root' | 'within'> {
  const trees = [root, ...beside]
  const holder = trees.find((tree) => changes.every(({ place }) => isInside(place.key, tree)))
  // Unsafe paths may be anywhere, and belong to the tree the patch is for.
  if (holder !== undefined || unsafePaths) return { root: holder ?? root }
  const within = trees.filter((tree) => changes.some(({ place }) => isInside(place.key, tree)))
  let around = root
  while (!within.every((tree) => isInside(tree, around))) around = dirname(around)
  return { root: around, within }
}
