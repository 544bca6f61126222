import { lstatSync, readFileSync, writeFileSync, type BigIntStats } from 'node:fs'
import { mountOptions } from '../../../sandbox/index.ts'
import { bytesOf, directoryOf } from '../path-keys.ts'

/** What the overlay shows at a path for which the lower tree has an entry, if the overlay doesn't show that entry. */
type Missing =
  /** The run removed it. */
  | 'removed'
  /** Somebody put another directory in place of the one over which the overlay was mounted, so the run has never seen the entry. */
  | 'never-shown'
  /** One of both, but this system doesn't show which. */
  | 'unclear'

/** Compares the directories of the lower tree with those over which the overlay was mounted. */
export type LowerDirectories = {
  /**
   * Whether a directory is the one over which the overlay was mounted. Other programs may have put another directory in its place since, for example
   * `git checkout` or `mv`. The overlay goes on showing the old one. False if this isn't known.
   */
  readonly isSame: (key: string) => boolean
  /** Whether the overlay certainly shows a directory of the lower tree, so that the run didn't make it. */
  readonly isShown: (key: string) => boolean
  /** What it means that the overlay doesn't show the entry `name` of a directory in the lower tree. */
  readonly whyMissing: (directory: string, name: string) => Missing
}

/** The trees whose directories are compared. */
type Trees = { readonly lower: string; readonly merged: string; readonly upper: string; readonly root: string }

/**
 * The largest inode number that file systems use themselves. If the layers are on different file systems, overlayfs marks the numbers of the lower
 * layer with higher bits (`xino` in the kernel's documentation of overlayfs).
 */
const largestInode = (1n << 56n) - 1n

/**
 * Compares directories by inode numbers: an overlay shows a directory that has a lower layer with the number of that layer, and one that the run made
 * with the number in the upper directory. Where the overlay doesn't show these numbers, a directory counts as the same if its change time is old.
 *
 * @param isTouched whether an entry has changed since the view was made
 */
export function compareLowerDirectories(trees: Trees, isTouched: (stats: BigIntStats) => boolean): LowerDirectories {
  const { lower, merged, upper, root } = trees
  const isOneDevice = statsOf(lower, '')?.dev === statsOf(upper, '')?.dev
  const showsNumbers = isOneDevice || mountOptions(merged).includes('xino=on')
  /** Which directory the overlay shows: the one in the lower tree, one that the run made, or another one. Undefined if this can't be seen. */
  const shownAt = (key: string): 'lower' | 'own' | 'another' | undefined => {
    const shown = statsOf(merged, key)
    if (!showsNumbers || shown?.isDirectory() !== true) return undefined
    const [below, above] = [statsOf(lower, key)?.ino, statsOf(upper, key)?.ino]
    // Node reads the number as a signed one.
    const number = BigInt.asUintN(64, shown.ino)
    if (number > largestInode) return (number & largestInode) === below ? 'lower' : 'another'
    // Two subvolumes of one file system are two devices whose numbers overlap, and overlayfs doesn't mark them.
    if (below === above) return undefined
    if (number === below) return 'lower'
    if (number === above) return 'own'
    return isOneDevice ? 'another' : undefined
  }
  const known = new Map<string, boolean>()
  const look = (key: string): boolean => {
    const now = statsOf(lower, key)
    if (now?.isDirectory() !== true) return false
    // The overlay's root always has the number of the upper directory.
    if (key === '') return isRoot(root, now)
    const shown = shownAt(key)
    if (shown === 'lower' || shown === 'another') return shown === 'lower'
    return !isTouched(now) && isSame(directoryOf(key))
  }
  const isSame = (key: string): boolean => {
    const found = known.get(key) ?? look(key)
    known.set(key, found)
    return found
  }
  return {
    isSame,
    isShown: (key) => shownAt(key) === 'lower',
    whyMissing: (directory, name) => {
      const hidden = statsOf(upper, directory === '' ? name : `${directory}/${name}`)
      // A character device with the number 0 is a whiteout, with which overlayfs hides an entry of the lower layer.
      if (hidden?.isCharacterDevice() === true && hidden.rdev === 0n) return 'removed'
      if (directory === '') return 'never-shown'
      const shown = shownAt(directory)
      // The run removed the whole directory and made it again.
      if (shown === 'own') return 'removed'
      if (shown !== undefined) return 'never-shown'
      return isSame(directory) ? 'removed' : 'unclear'
    },
  }
}

/** Records which directory a tree's root is, so that another one in its place is noticed. */
export function noteRoot(file: string, tree: string): void {
  const { dev, ino } = lstatSync(tree, { bigint: true })
  writeFileSync(file, JSON.stringify({ boot: bootId(), device: `${dev}`, inode: `${ino}` }))
}

function isRoot(file: string, { dev, ino }: BigIntStats): boolean {
  const text = textOf(file)
  if (text === undefined) return true
  const noted = JSON.parse(text) as { readonly boot: string; readonly device: string; readonly inode: string }
  // After a restart of the system, a file system may have another device number.
  return noted.inode === `${ino}` && (noted.device === `${dev}` || noted.boot !== bootId())
}

function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** The result of `lstat` for a key; undefined if there is no such entry. */
export function statsOf(root: string, key: string): BigIntStats | undefined {
  try {
    return lstatSync(bytesOf(root, key), { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    // In this tree, a parent of the path isn't a directory.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}
