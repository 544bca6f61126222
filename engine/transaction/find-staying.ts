import { readdirSync } from 'node:fs'

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
    const found = entriesOf(key)
      .map((entry) => {
        const path = `${key}/${entry.name}`
        if (!leaving.has(path)) return path
        return entry.isDirectory() ? staysIn(path) : undefined
      })
      .find((path) => path !== undefined)
    known.set(key, found)
    return found
  }
  return staysIn
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // The directory can't be read. The commit will report the error.
    return []
  }
}
