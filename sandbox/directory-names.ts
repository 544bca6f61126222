import { fstatSync, type PathLike, type Stats } from 'node:fs'
import process from 'node:process'
import { readdirSync, statfsSync, statSync } from './host-paths.ts'
import { memoize } from './memoize.ts'

/** The result for a directory that doesn't exist or can't be reached: no names. */
const none: readonly string[] = []

/** The names in a directory, as they were at the time of `stamp`. */
type Listed = { readonly stamp: string; readonly names: readonly string[] }

const known = new Map<string, Listed>()
const mostKnown = 1024

/**
 * How many milliseconds old a directory's time stamp must be before an unchanged stamp proves that the directory hasn't changed. This is longer than a tick of
 * the kernel's clock.
 */
const settledMs = 100

/** The same for a stamp that is a whole number of seconds: file systems such as ext3 don't store fractions, and FAT rounds to two seconds. */
const settledSecondsMs = 2000 + settledMs

/**
 * Whether a stamp was old enough when the directory was listed: if the directory later has the same stamp, it can't have changed in between.
 *
 * @param changedMs the directory's change time
 * @param listedMs the time at which the directory was listed
 */
export function isSettled(changedMs: number, listedMs: number): boolean {
  return listedMs - changedMs > (changedMs % 1000 === 0 ? settledSecondsMs : settledMs)
}

/**
 * Types of local file systems (statfs(2), `f_type`) on which the kernel stamps each change of a directory with its own clock, and programs can't set
 * that stamp: ext2 to ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, bcachefs.
 */
const ownTimes: ReadonlySet<number> = new Set([
  0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0xca45_1a4e,
])

/**
 * The names in a directory, in lower case because some file systems ignore case.
 *
 * @param directory absolute; symlinks are followed
 * @returns the names; none if there is no such directory; undefined if it can be entered but not listed
 */
export function namesIn(directory: string): ReadonlySet<string> | undefined {
  const entries = entriesIn(directory)
  return entries === undefined ? undefined : inLowerCase(entries)
}

const inLowerCase = memoize((names: readonly string[]) => new Set(names.map((name) => name.toLowerCase())))

/**
 * Like `namesIn`, but returns the names as they are written rather than in lower case. If the directory certainly hasn't changed, a cached list is
 * used. Without the cache, planning a command would spend most of its time listing the same home directories.
 */
export function entriesIn(directory: string): readonly string[] | undefined {
  let stat: Stats | undefined
  try {
    // Without this option, Node would create an error for a missing directory, which takes longer than the query itself.
    stat = statSync(directory, { throwIfNoEntry: false })
  } catch {
    return none
  }
  if (stat?.isDirectory() !== true) return none
  const stamp = `${stat.dev}:${stat.ino}:${stat.ctimeMs}:${stat.mtimeMs}`
  const before = known.get(directory)
  if (before?.stamp === stamp) return before.names
  const listedMs = Date.now()
  try {
    const names = readdirSync(directory)
    if (known.size >= mostKnown) known.clear()
    if (isSettled(stat.ctimeMs, listedMs) && hasOwnTimes(directory)) known.set(directory, { stamp, names })
    else known.delete(directory)
    return names
  } catch {
    // The directory can't be listed, but a process that knows the names can still open the files in it.
    return undefined
  }
}

/** Whether the directory is on a file system on which an unchanged stamp can prove anything. See `ownTimes`. @throws the errors of statfs(2) */
function hasOwnTimes(directory: PathLike): boolean {
  return process.platform === 'linux' && ownTimes.has(statfsSync(directory).type >>> 0)
}

/**
 * Returns a function that tells whether an unchanged stamp of a directory can prove anything. Each file system is queried only once, so don't keep
 * the function for longer than a scan: device numbers are reused after unmounting. Outside Linux, only whole seconds are suspect (see `isSettled`).
 */
export function stampsByDevice(): (directory: PathLike, device: number) => boolean {
  const known = new Map<number, boolean>()
  return (directory, device) => {
    const before = known.get(device)
    if (before !== undefined) return before
    try {
      const answer = process.platform !== 'linux' || hasOwnTimes(directory)
      known.set(device, answer)
      return answer
    } catch {
      // The directory has been removed in the meantime.
      return false
    }
  }
}

const knownHeld = new Map<string, Listed>()

/**
 * The names in an open directory, in the form that `decodeName` returns. As with `entriesIn`, a directory that certainly hasn't changed is not read again.
 *
 * @throws the errors of fstat(2) and getdents(2)
 */
export function namesHeld(descriptor: number): readonly string[] {
  const { dev, ino, ctimeMs, mtimeMs } = fstatSync(descriptor)
  const [key, stamp] = [`${dev}:${ino}`, `${ctimeMs}:${mtimeMs}`]
  const before = knownHeld.get(key)
  if (before?.stamp === stamp) return before.names
  const listedMs = Date.now()
  const path = `/proc/self/fd/${descriptor}`
  const names = readdirSync(path)
  if (knownHeld.size >= mostKnown) knownHeld.clear()
  if (isSettled(ctimeMs, listedMs) && hasOwnTimes(path)) knownHeld.set(key, { stamp, names })
  else knownHeld.delete(key)
  return names
}
