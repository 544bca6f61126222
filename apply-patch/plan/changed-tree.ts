import { dirname } from 'node:path'
import type { Change, ChangeSet } from '../change-set.ts'
import { isInside, type Tree } from '../files/index.ts'

/**
 * The tree that a commit locks, and in which recovery later looks for a crashed commit. It is the one among the patch's trees that contains all changes. If no
 * single tree contains all changes, it is the nearest directory that contains all changed trees, and nothing outside these trees may be changed.
 */
export function changedTree(
  changes: readonly Change[],
  { root, beside, unsafePaths }: Tree,
): Pick<ChangeSet, 'root' | 'within'> {
  const trees = [root, ...beside]
  const holder = trees.find((tree) => changes.every(({ place }) => isInside(place.key, tree)))
  // If unsafe paths are allowed, changes can be anywhere. They are then treated as part of the tree for which the patch was planned.
  if (holder !== undefined || unsafePaths) return { root: holder ?? root }
  const within = trees.filter((tree) => changes.some(({ place }) => isInside(place.key, tree)))
  let around = root
  while (!within.every((tree) => isInside(tree, around))) around = dirname(around)
  return { root: around, within }
}
