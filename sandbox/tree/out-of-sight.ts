import { dirname } from 'node:path'
import { isTemporary } from './system-places.ts'
import type { ClosedTree } from './closed-tree.ts'

/**
 * Returns a function that says whether a path of this machine isn't there for commands because their tree is closed. `/tmp` and `/run` are left out: they are
 * private in open trees too.
 *
 * @param granted the paths that the policy shows, without symlinks
 */
export function outOfSight(tree: ClosedTree | undefined, granted: readonly string[]): (path: string) => boolean {
  if (tree === undefined) return () => false
  const closed = new Set([...tree.hidden, ...tree.homes.map(({ path }) => path)])
  const open = new Set([...granted, ...tree.shown.map(({ path }) => path)])
  return (path) => {
    for (let at = path; at !== '/'; at = dirname(at)) {
      if (open.has(at) || isTemporary(at)) return false
      if (closed.has(at)) return true
    }
    return false
  }
}
