import { join } from 'node:path'
import { listEntries, lstatSync } from '../host-paths.ts'
import { decodeName } from '../path-bytes.ts'

/** The permission bits of those who are neither the owner nor in the group. */
const [readable, usable] = [0o004, 0o005]

/**
 * The entries below a directory that not every user may read, because of their mode. Directories that nobody else may enter are returned without
 * what is in them.
 *
 * @param levels how deep to look
 */
export function withheldEntries(directory: string, levels: number): readonly string[] {
  const found: string[] = []
  for (const { name, kind } of entriesOf(directory)) {
    if (kind === 'link' || kind === 'other') continue
    const path = join(directory, decodeName(name))
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? usable
    if ((mode & (kind === 'directory' ? usable : readable)) === 0) found.push(path)
    else if (kind === 'directory' && levels > 1) found.push(...withheldEntries(path, levels - 1))
  }
  return found
}

function entriesOf(directory: string): readonly { readonly name: string; readonly kind: string }[] {
  try {
    return [...listEntries(directory)]
  } catch {
    // The directory doesn't exist, or this user can't list it.
    return []
  }
}
