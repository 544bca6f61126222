import { readdirSync } from 'node:fs'

/** An entry of a directory. Its name has one character for each byte. Its kind is what the directory says, which may be wrong by the time the entry is used. */
export type Listed = { readonly name: string; readonly isFile: boolean }

/** Lists the entries of a directory. @throws the system's error */
export function listDirectory(directory: string | Buffer): readonly Listed[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, encoding: 'latin1' })
    return entries.map((entry) => ({ name: entry.name, isFile: entry.isFile() }))
  } catch {
    // If a file system doesn't tell the kinds of entries, Node asks for the metadata of each one, and finds it only if the name is given as bytes.
    const entries = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })
    return entries.map((entry) => ({ name: entry.name.toString('latin1'), isFile: entry.isFile() }))
  }
}
