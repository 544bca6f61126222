import { utimesSync } from 'node:fs'
import { errnoOf } from './commit-error.ts'
import type { Times } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import type { Work } from './install.ts'
import { touchedDirectories } from './sync-directories.ts'

/** The times of the existing directories whose entries a commit changes. They were read when the directories were opened. */
export function timesOf({ steps, made, locks, directories }: Work): readonly Times[] {
  const fresh = new Set(made)
  const touched = [...touchedDirectories({ steps, made }), ...locks.map(({ target }) => target.directory)]
  return [...new Set(touched)].filter((path) => !fresh.has(path)).map((path) => ({ path, ...directories.times(path) }))
}

/**
 * Restores the earlier times of directories, as exactly as Node can set them (to less than a microsecond). A directory of another user keeps its new
 * times, because only its owner may set them.
 */
export function restoreTimes(all: readonly Times[], directories: Directories): void {
  for (const { path, accessed, modified } of all) {
    try {
      utimesSync(directories.entry(path, '.'), Number(accessed) / 1e9, Number(modified) / 1e9)
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
    }
  }
}
