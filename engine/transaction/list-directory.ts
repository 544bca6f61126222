import { readdirSync } from 'node:fs'

/** An entry of a directory. Its name has one character for each byte. Its kind comes from the directory listing, and may have changed since. */
export type Listed = { readonly name: string; readonly isFile: boolean }

/** Lists the entries of a directory. @throws the system's error */
export function listDirectory(directory: string | Buffer): readonly Listed[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, encoding: 'latin1' })
    return entries.map((entry) => ({ name: entry.name, isFile: entry.isFile() }))
  } catch {
    // If a file system doesn't report the kinds of entries, Node looks up the metadata of each entry, which fails for some names unless they are bytes.
    const entries = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })
    return entries.map((entry) => ({ name: entry.name.toString('latin1'), isFile: entry.isFile() }))
  }
}
