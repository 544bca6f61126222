import { join } from 'node:path'
import { lstatSync, mkdirSync } from '../host-paths.ts'

/** Where one command stores what it writes in caches. */
type CacheLayer = { readonly path: string; readonly release: () => void }

/**
 * Returns a function that takes a directory in which overlays of the caches can be stored, until it is released. Commands that run one after the other
 * get the same one, and so find what they have stored. Commands that run at the same time don't, because one directory can't belong to two overlays.
 *
 * @param directory where the directories are made
 * @param caches the directories over which the overlays are put
 */
export function createCacheLayers(directory: string, caches: readonly string[]): () => CacheLayer | undefined {
  const free: boolean[] = []
  return () => {
    if (caches.length === 0) return undefined
    const known = free.indexOf(true)
    const number = known === -1 ? free.length : known
    const path = join(directory, `layer-${number}`)
    if (known === -1) {
      mkdirSync(path, { mode: 0o700 })
      for (const [index, cache] of caches.entries()) {
        const storage = join(path, `${index}`)
        for (const made of ['', 'work']) mkdirSync(join(storage, made), { mode: 0o700 })
        // The overlay shows this mode instead of that of the cache.
        const mode = lstatSync(cache, { throwIfNoEntry: false })?.mode ?? 0o700
        mkdirSync(join(storage, 'upper'), { mode: mode & 0o777 })
      }
    }
    free[number] = false
    return { path, release: () => void (free[number] = true) }
  }
}
