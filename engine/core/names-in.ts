import { readdirSync } from 'node:fs'

/**
 * Returns the names of the files and directories in a folder, sorted in the same way on every machine. Returns an empty list if the path is not a
 * folder or can't be read.
 */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    // The folder is missing, is a file, or is unreadable. If that is an error, it is reported where the files in the folder are read.
    return []
  }
}
