import { join } from 'node:path'
import { openTree } from '../../apply-patch/index.ts'
import { readCheckedOut, gitDirectoriesOf, type LandedEntry } from '../../sandbox/index.ts'
import type { RunChange } from './change-record.ts'
import { keptBytes } from './kept-files.ts'

/** The maximum size of a file that is staged, in bytes. */
const largestStaged = 512 * 1024 * 1024

/**
 * Returns what is at a path once a landing is complete. What is merged with somebody else's change is not what the run left, so it is undefined.
 *
 * @param directory the session's folder, where the contents are stored
 */
export function landedEntries(
  { unmerged, merged }: { readonly unmerged: readonly RunChange[]; readonly merged: readonly string[] },
  directory: string,
): (path: string) => LandedEntry | undefined {
  const planned = new Map(unmerged.map((change) => [join(change.root, change.path), change.after]))
  const others = new Set(merged)
  return (path) => {
    if (others.has(path)) return undefined
    const after = planned.get(path)
    if (after === undefined || after.type === 'directory') return present(path)
    if (after.type !== 'file') return after
    if (after.hash === null || after.size > largestStaged) return undefined
    return { type: 'file', bytes: keptBytes(directory, after.hash), mode: after.mode }
  }
}

function present(path: string): LandedEntry | undefined {
  const tree = openTree('/', { unsafePaths: true })
  try {
    const place = tree.locateEntry(path.slice(1), () => false)
    if (place.key !== path) return undefined
    const found = tree.look(
      place,
      () => undefined,
      () => false,
    )
    if (found.type === 'unread' && found.size > largestStaged) return undefined
    const now = found.type === 'unread' ? tree.read(place) : found
    if (now.type === 'file') return { type: 'file', bytes: now.bytes, mode: now.mode }
    if (now.type === 'absent') return now
    if (now.type === 'symlink') return { type: 'symlink', target: now.target }
    const git = now.type === 'directory' ? gitDirectoriesOf(path) : undefined
    return git && { type: 'repository', commit: readCheckedOut(git)?.commit }
  } catch {
    // What can't be read isn't known to be what the run staged.
    return undefined
  }
}
