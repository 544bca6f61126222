import { readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'

/** Other people's files, and git's own: as in the walk for patterns of names. */
const skipped: readonly string[] = ['.git', 'node_modules']

/** All that is below a directory, symlinks not followed, `.git` and `node_modules` not entered; what can't be read is left out. */
export function* pathsBelow(directory: string): Generator<{ readonly path: string; readonly isDirectory: boolean }> {
  const stack = [directory]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const entry of entriesOf(at)) {
      const found = { path: join(at, entry.name), isDirectory: entry.isDirectory() }
      yield found
      if (found.isDirectory && !skipped.includes(entry.name)) stack.push(found.path)
    }
  }
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // Closed to this user, and so to its commands; or not there.
    return []
  }
}
