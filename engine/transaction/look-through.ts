import { createHash, type Hash } from 'node:crypto'
import { chmodSync, lstatSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { areMounted, openTreeBudget, type TreeBounds, type TreeBudget } from '../../sandbox/index.ts'
import { below, bytesOf } from './path-keys.ts'
import type { PrivateView } from './stored-view.ts'
import { stampOf } from './view-manifest.ts'

/** What was found in one tree of a view. */
export type TreeLook = {
  /** The directories that their owner couldn't read or enter, by key, with their modes. They can be read until `close` is called. */
  readonly closed: ReadonlyMap<string, number>
  /** The keys of directories that can't be read, because they belong to somebody else, or because the paths of their entries are too long. */
  readonly unreadable: ReadonlySet<string>
}

/** What was found in a view. */
export type Look = {
  /** A fingerprint of everything that the view stores, git directories included. It changes whenever a part is written, added, replaced or removed. */
  readonly stamp: string
  /** One entry for each tree, in order. */
  readonly trees: readonly TreeLook[]
  /** Restores the modes of the directories that were made readable. */
  readonly close: () => void
}

const atOnce = 500
const readAndEnter = 0o500n
/** The maximum length in bytes of a path (path_resolution(7)), without its final NUL, and of a name in it. */
const [longestPath, longestName] = [4095, 255]

/**
 * Looks through everything that a view stores. A directory that a command has made unreadable (for example with `chmod 000`) belongs to this user like
 * the rest of the view, so it is made readable until `close` is called.
 *
 * @throws TreeTooLarge if a tree of the view has more entries than the bounds allow
 */
export async function lookThrough(view: Pick<PrivateView, 'views' | 'overlays'>, bounds?: TreeBounds): Promise<Look> {
  const opened: (readonly [path: Buffer, mode: number])[] = []
  const close = (): void => {
    for (const [path, mode] of opened.toReversed()) chmodSync(path, mode)
  }
  try {
    return { ...(await lookInto(view, opened, bounds)), close }
  } catch (error) {
    close()
    throw error
  }
}

async function lookInto(
  { views, overlays }: Pick<PrivateView, 'views' | 'overlays'>,
  opened: (readonly [path: Buffer, mode: number])[],
  bounds: TreeBounds | undefined,
): Promise<Omit<Look, 'close'>> {
  const sum = createHash('sha256')
  const trees: TreeLook[] = []
  for (const [index, { path, source }] of views.entries()) {
    const closed = new Map<string, number>()
    const unreadable = new Set<string>()
    const budget = openTreeBudget(path, bounds)
    const storage = overlays[index]
    // The layers of a mounted overlay must not be changed directly.
    const shown = storage !== undefined && !areMounted([source]) ? storage.upper : source
    const rootLength = Math.max(...[path, source, storage?.upper ?? ''].map((root) => Buffer.byteLength(root)))
    await walk(storage?.upper ?? source, sum, budget, (key, { mode: bits }) => {
      if (rootLength + key.length + longestName + 2 > longestPath) {
        unreadable.add(key)
        return false
      }
      if ((bits & readAndEnter) === readAndEnter) return true
      const [path, mode] = [bytesOf(shown, key), Number(bits & 0o7777n)]
      try {
        chmodSync(path, mode | 0o700)
        opened.push([path, mode])
        closed.set(key, mode)
        return true
      } catch {
        unreadable.add(key)
        return false
      }
    })
    if (storage !== undefined)
      await walk(
        storage.repository,
        sum,
        budget,
        (key) => storage.repository.length + key.length + longestName + 2 <= longestPath,
      )
    trees.push({ closed, unreadable })
  }
  return { stamp: sum.digest('hex'), trees }
}

/** Adds every entry below a directory to a fingerprint. `open` is called with each directory, and decides whether it is read. */
async function walk(
  root: string,
  sum: Hash,
  budget: TreeBudget,
  open: (key: string, stats: BigIntStats) => boolean,
): Promise<void> {
  const top = lstatSync(root, { bigint: true, throwIfNoEntry: false })
  if (top === undefined) return
  const pending = open('', top) ? [''] : []
  let looked = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const name of namesIn(root, directory, budget)) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, name)
      const stats = lstatSync(bytesOf(root, key), { bigint: true, throwIfNoEntry: false })
      if (stats === undefined) continue
      sum.update(`${key}\0${wordsOf(stats)}\0`, 'latin1')
      if (!stats.isDirectory()) continue
      if (open(key, stats)) pending.push(key)
    }
  }
}

function wordsOf(stats: BigIntStats): string {
  // Making a directory or a file readable changes its change time, so that time doesn't count here. Entries that were added to a directory are in the
  // fingerprint themselves.
  if (stats.isDirectory()) return `${stats.mode}`
  return (stats.mode & 0o400n) === 0n ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.mode}` : stampOf(stats)
}

function namesIn(root: string, directory: string, budget: TreeBudget): readonly string[] {
  try {
    return budget
      .list(bytesOf(root, directory))
      .map(({ name }) => name)
      .toSorted()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES') return []
    throw error
  }
}
