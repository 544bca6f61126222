import { listEntries, type ListedEntry } from './host-paths.ts'

/** How much of a tree may be looked through: how many entries, how many bytes their paths have together, and for how long. */
export type TreeBounds = { readonly entries: number; readonly bytes: number; readonly milliseconds: number }

/**
 * The bounds of a walk through a whole tree. A tree of a million entries is larger than nearly every real one, and its paths still fit into memory a few
 * times.
 *
 * @internal
 */
export const treeBounds: TreeBounds = { entries: 1_000_000, bytes: 256 * 1024 * 1024, milliseconds: 600_000 }

/**
 * Thrown if a walk reaches one of its bounds. The message says where and which, as a clause.
 *
 * @internal
 */
export class TreeTooLarge extends Error {
  override readonly name = 'TreeTooLarge'
}

/** Counts what a walk has seen. Both functions throw `TreeTooLarge` at a bound. */
export type TreeBudget = {
  /** Counts an entry whose path has this length. */
  readonly count: (length: number) => void
  /** Lists a directory and counts its entries while it is read, so that a directory with too many of them doesn't fill the memory first. */
  readonly list: (directory: string | Buffer) => readonly ListedEntry[]
}

/** How many entries are counted between two looks at the clock. */
const betweenLooks = 500

/**
 * Opens the budget of a walk. Whoever walks a tree that others have filled needs one: commands choose how many entries a tree has, and how they are named.
 *
 * @param what the tree, or what else is counted, as the error names it
 * @internal
 */
export function openTreeBudget(what: string, bounds: TreeBounds = treeBounds): TreeBudget {
  const until = performance.now() + bounds.milliseconds
  let [entries, bytes] = [0, 0]
  const count = (length: number): void => {
    entries += 1
    bytes += length
    if (entries > bounds.entries)
      throw new TreeTooLarge(`there are more than ${bounds.entries.toLocaleString('en-US')} entries in ${what}`)
    if (bytes > bounds.bytes)
      throw new TreeTooLarge(`the paths in ${what} have more than ${Math.floor(bounds.bytes / 1_000_000)} MB`)
    if (entries % betweenLooks === 0 && performance.now() > until)
      throw new TreeTooLarge(`looking through ${what} took longer than ${bounds.milliseconds / 1000} seconds`)
  }
  const list = (directory: string | Buffer): readonly ListedEntry[] => {
    const found: ListedEntry[] = []
    for (const entry of listEntries(directory)) {
      count(directory.length + entry.name.length)
      found.push(entry)
    }
    return found
  }
  return { count, list }
}
