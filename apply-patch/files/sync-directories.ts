import { dirname } from 'node:path'
import { errnoOf } from './commit-error.ts'
import { exists } from './directory-changes.ts'
import type { Work } from './install.ts'
import type { Leftover } from './leftovers.ts'

/** Syncs every directory whose entries a commit changes, so that these entries are on the disk. */
export function syncAll(work: Work): void {
  const made = new Set(work.made)
  const cleared = new Set(work.cleared.map(({ path }) => path))
  for (const directory of touchedDirectories(work)) {
    if (made.has(directory) && !exists(directory, work.directories)) continue
    try {
      work.directories.sync(directory)
    } catch (error) {
      // A directory that was replaced by a file can't be synced any more. That isn't necessary either: its removal changed its parent, which is synced too.
      if (!cleared.has(directory) || !['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error
    }
  }
}

/** The directories whose entries a commit changes. */
export function touchedDirectories(work: Pick<Work, 'made' | 'steps'>): ReadonlySet<string> {
  const touched = new Set(work.made.flatMap((directory) => [directory, dirname(directory)]))
  for (const { journalEntry } of work.steps) {
    touched.add(journalEntry.target.directory)
    if (journalEntry.type !== 'remove') touched.add(journalEntry.fresh.directory)
  }
  return touched
}

/**
 * Syncs the commit's directories once more, because temporary names have been removed from them since the last sync. Otherwise these names could
 * reappear after a power cut, when the journal is gone. The commit succeeds even if a sync fails: the sync is tried once more, and then left to `recover`.
 */
export function syncFinally(work: Work): readonly Leftover[] {
  const failures: Leftover[] = []
  for (const directory of touchedDirectories(work)) {
    const failed = (): string | undefined => {
      try {
        work.directories.sync(directory)
        return undefined
      } catch (error) {
        const errno = errnoOf(error)
        if (errno === undefined) throw error
        // An undo may have removed the directory.
        return errno === 'ENOENT' || errno === 'ENOTDIR' ? undefined : errno
      }
    }
    const reason = failed() === undefined ? undefined : failed()
    if (reason !== undefined) failures.push({ path: directory, reason })
  }
  return failures
}
