import { listEntries, type ListedEntry } from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'

/**
 * Returns a function that looks in a directory and its subdirectories for an entry that would stay there after a landing. The function returns the path of
 * one such entry; undefined if the directory would be empty, or can't be read.
 *
 * @param leaving the keys of everything that the landing removes
 */
export function findStaying(leaving: ReadonlySet<string>): (key: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  const staysIn = (key: string): string | undefined => {
    if (known.has(key)) return known.get(key)
    let found: string | undefined
    for (const { name, kind } of entriesOf(key)) {
      const path = `${key}/${pathOfKey(name)}`
      if (!leaving.has(path)) found = path
      else if (kind === 'directory') found = staysIn(path)
      if (found !== undefined) break
    }
    known.set(key, found)
    return found
  }
  return staysIn
}

function* entriesOf(directory: string): Iterable<ListedEntry> {
  try {
    yield* listEntries(directory)
  } catch {
    // The directory can't be read. The commit will report the error.
  }
}
