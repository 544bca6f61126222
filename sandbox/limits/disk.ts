import { statfsSync } from '../host-paths.ts'

/** The limits on the bytes and files that a command may add to the disks that it can write to. They are checked while the command runs. */
export type DiskLimit = {
  /** Directories on the disks to watch. */
  readonly places: readonly string[]
  /** The limit for each disk, in bytes. If it is undefined, there is a default limit, which leaves some space free. */
  readonly bytes: number | undefined
  /**
   * The limit for each disk, as a number of files. If it is undefined, there is a default limit, which leaves room for other programs to create some
   * files.
   */
  readonly files: number | undefined
}

/** The limit that a command exceeded, with its value. */
export type DiskExceeded = { readonly limit: 'diskBytes' | 'files'; readonly value: number }

/** The interval between two checks, in milliseconds. A command can exceed the limit only by what it can write in this time. */
const lookMs = 100

const gibibyte = 1024 ** 3
const defaults = { diskBytes: 32 * gibibyte, files: 4_000_000 } as const

/** The share of the free space that a command may use by default. The rest is left so that somebody can still clean up. */
const defaultShare = 0.9

/**
 * Watches the disks while a command runs. Data that other programs write counts too, since a full disk affects everybody. `onExceeded` is called
 * once, with the first limit that is exceeded. The limit on files applies only to file systems that report how many files can still be created.
 *
 * @returns a function that ends the watch
 */
export function watchDisks(
  { places, bytes, files }: DiskLimit,
  onExceeded: (exceeded: DiskExceeded) => void,
): () => void {
  const asked = { diskBytes: bytes, files }
  const watched = places.flatMap((place) => {
    const free = freeOn(place)
    if (free === undefined) return []
    return (['diskBytes', 'files'] as const).flatMap((limit) => {
      const value = asked[limit] ?? Math.min(defaults[limit], Math.floor((free[limit] ?? 0) * defaultShare))
      return free[limit] === undefined ? [] : [{ place, limit, value, floor: free[limit] - value }]
    })
  })
  const timer = setInterval(() => {
    const now = new Map(places.map((place) => [place, freeOn(place)]))
    const exceeded = watched.find(({ place, limit, floor }) => (now.get(place)?.[limit] ?? Infinity) < floor)
    if (exceeded === undefined) return
    clearInterval(timer)
    onExceeded(exceeded)
  }, lookMs)
  return () => clearInterval(timer)
}

/**
 * The free space of a disk, in bytes and in files. `files` is undefined on file systems that create inodes on demand and don't report how many are
 * free (btrfs).
 */
function freeOn(place: string): { readonly diskBytes: number; readonly files: number | undefined } | undefined {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(place)
    return { diskBytes: bavail * bsize, files: files === 0 ? undefined : ffree }
  } catch {
    // A directory that has been removed, perhaps by the command, is no longer watched.
    return undefined
  }
}
