import { statfsSync } from 'node:fs'

/** How much of the disks that a command writes to may go while it runs. */
export type DiskLimit = {
  /** Directories on each of these disks. */
  readonly places: readonly string[]
  /** Bytes of each; undefined for a default that leaves the machine something. */
  readonly bytes: number | undefined
}

/** Between two looks. Whoever fills a disk gets no further than what can be written meanwhile. */
const lookMs = 100

const gibibyte = 1024 ** 3
const defaultBytes = 32 * gibibyte

/** Of what was free, the part that a command may take where nobody says: what is left is for whoever has to clean up. */
const defaultShare = 0.9

/**
 * Watches the disks while a command runs: what is written elsewhere counts too, since a full disk stops everybody. `onExceeded` is called once, with
 * the limit in bytes.
 *
 * @returns what ends the watch
 */
export function watchDisks({ places, bytes }: DiskLimit, onExceeded: (limit: number) => void): () => void {
  const watched = places.flatMap((place) => {
    const free = freeOn(place)
    const limit = bytes ?? Math.min(defaultBytes, Math.floor((free ?? 0) * defaultShare))
    return free === undefined ? [] : [{ place, limit, floor: free - limit }]
  })
  const timer = setInterval(() => {
    const exceeded = watched.find(({ place, floor }) => (freeOn(place) ?? Infinity) < floor)
    if (exceeded === undefined) return
    clearInterval(timer)
    onExceeded(exceeded.limit)
  }, lookMs)
  return () => clearInterval(timer)
}

function freeOn(place: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(place)
    return bavail * bsize
  } catch {
    // A directory that went away, taken by its own command say, is watched no longer.
    return undefined
  }
}
