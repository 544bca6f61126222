import { dirname } from 'node:path'
import type { Change, ChangeSet } from '../change-set.ts'
import { isInside, type Tree } from '../files/index.ts'

/**
 * The tree that a commit locks, and in which recovery later looks for a crash. It is the planned tree that contains all changes. If no single tree contains all
 * changes, it is the nearest common parent directory of several trees, and nothing outside these trees may be changed.
 */
export function changedTree(
  changes: readonly Change[],
  { root, beside, unsafePaths }: Tree,
): Pick<ChangeSet, 'root' | 'within'> {
  const trees = [root, ...beside]
  const holder = trees.find((tree) => changes.every(({ place }) => isInside(place.key, tree)))
  // Unsafe paths may be anywhere, and are treated as part of the tree that the patch is for.
  if (holder !== undefined || unsafePaths) return { root: holder ?? root }
  const within = trees.filter((tree) => changes.some(({ place }) => isInside(place.key, tree)))
  let around = root
  while (!within.every((tree) => isInside(tree, around))) around = dirname(around)
  return { root: around, within }
}
