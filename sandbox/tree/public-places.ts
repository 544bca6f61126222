import { listAtOnce, lstatSync } from '../host-paths.ts'
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
  return entriesOf(directory).flatMap(({ name, kind }) => {
    if (kind === 'link' || kind === 'other') return []
    const path = `${directory}/${decodeName(name)}`
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? usable
    if ((mode & (kind === 'directory' ? usable : readable)) === 0) return [path]
    return kind === 'directory' && levels > 1 ? withheldEntries(path, levels - 1) : []
  })
}

function entriesOf(directory: string): ReturnType<typeof listAtOnce> {
  try {
    return listAtOnce(directory)
  } catch {
    // The directory doesn't exist, or this user can't list it.
    return []
  }
}
