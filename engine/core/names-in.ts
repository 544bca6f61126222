import { readdirSync } from 'node:fs'

/**
 * Returns the names of the files and directories in a folder, sorted in the same way on every machine. Returns an empty list if the path is not a
 * folder or can't be read.
 */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    // The folder is missing, is a file, or is unreadable. That is reported when the files in it are read.
    return []
  }
}
