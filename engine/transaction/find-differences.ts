import { lstatSync, readlinkSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { ListedEntry, TreeBudget } from '../../sandbox/index.ts'
import { stampOf, type Manifest, type Original } from './view-manifest.ts'
import type { TreeLook } from './look-through.ts'
import { below, bytesOf, isBelow } from './path-keys.ts'

/** The state of a path in a view: either now, or when the view was made. Link targets have one character per byte. */
export type Entry =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly mode: number; readonly size: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'directory'; readonly mode: number; readonly was?: 'unknown' | undefined }
  /** A pipe, a socket or a device, or an original that was left out of the view because it couldn't be copied. */
  | { readonly kind: 'other' }

/** Bounds a search for differences: `walk` counts the entries that are looked at, `found` the differences. */
export type DifferenceBudget = { readonly walk: TreeBudget; readonly found: TreeBudget }

/** A path that was added, removed or replaced, or whose metadata changed. A file's bytes may still be the same. */
export type Difference = { readonly key: string; readonly before: Entry; readonly after: Entry }

const atOnce = 500

/**
 * Finds the differences between a view and its originals. Follows no symbolic links, and doesn't enter git directories. Instead, `repository` is
 * called with each directory that contains one.
 *
 * @param look the directories that were made readable for this, and those that can't be read, which count as empty
 */
export async function findDifferences(
  view: string,
  manifest: Manifest,
  { closed, unreadable }: TreeLook,
  repository: (key: string) => void,
  budget: DifferenceBudget,
): Promise<readonly Difference[]> {
  const found: Difference[] = []
  const note = (difference: Difference): void => {
    budget.found.count(difference.key.length)
    found.push(difference)
  }
  const seen = new Set<string>()
  const pending = ['']
  let looked = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (unreadable.has(directory)) continue
    for (const { name, kind } of entriesIn(view, directory, budget.walk)) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, name)
      if (name === '.git' && kind === 'directory') {
        repository(directory)
        continue
      }
      seen.add(key)
      if (kind === 'directory') pending.push(key)
      const stats = lstatSync(bytesOf(view, key), { bigint: true, throwIfNoEntry: false })
      const difference = stats && compareWith(view, key, stats, manifest.get(key), closed.get(key))
      if (difference !== undefined) note(difference)
    }
  }
  for (const [key, original] of manifest) {
    if (!seen.has(key) && original.kind !== 'left-out' && !isBelow(key, unreadable)) {
      note({ key, before: entryOf(original), after: { kind: 'absent' } })
    }
  }
  return found.toSorted((one, other) => (one.key < other.key ? -1 : 1))
}

function entriesIn(view: string, directory: string, budget: TreeBudget): readonly ListedEntry[] {
  try {
    return budget.list(bytesOf(view, directory))
  } catch (error) {
    // A directory that no longer exists counts as empty.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return []
    throw error
  }
}

/**
 * Compares a path of a view with its original. Returns undefined if nothing differs.
 *
 * @param mode the mode that a directory has when it is not being looked through. Default: the one in `stats`
 */
export function compareWith(
  view: string,
  key: string,
  stats: BigIntStats,
  original: Original | undefined,
  mode = Number(stats.mode & 0o7777n),
): Difference | undefined {
  const path = bytesOf(view, key)
  const before = entryOf(original)
  if (stats.isDirectory()) {
    return before.kind === 'directory' && before.mode === mode
      ? undefined
      : { key, before, after: { kind: 'directory', mode } }
  }
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(path, 'latin1')
    return before.kind === 'link' && before.target === target
      ? undefined
      : { key, before, after: { kind: 'link', target } }
  }
  if (!stats.isFile()) return { key, before, after: { kind: 'other' } }
  if (original?.kind === 'file' && original.stamp === stampOf(stats)) return undefined
  return { key, before, after: { kind: 'file', mode, size: Number(stats.size) } }
}

/** Converts the original of a path to an `Entry`, so that it can be compared with the path's current state. */
export function entryOf(original: Original | undefined): Entry {
  switch (original?.kind) {
    case 'file':
      return { kind: 'file', mode: original.mode, size: original.size }
    case 'link':
      return { kind: 'link', target: original.target }
    case 'directory':
      return { kind: 'directory', mode: original.mode, was: original.was }
    case 'left-out':
      return { kind: 'other' }
    case undefined:
      return { kind: 'absent' }
    default:
      return original satisfies never
  }
}
