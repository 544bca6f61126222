import { readdirSync } from 'node:fs'

/** The names in a folder, sorted the same way everywhere; none where it is no folder, or unreadable. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    // Missing, a file, or unreadable: the reader of its files reports that.
    return []
  }
}
