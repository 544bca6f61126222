import { readdirSync } from 'node:fs'

/** The names in a folder, in an order that is the same everywhere; none where it is no folder, or closed. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    // Not there, a file in its place, or closed: whoever reads what is in it says so.
    return []
  }
}
