import { join } from 'node:path'
import { decodeName, encodePath, listEntries, type ListedEntry } from '../../sandbox/index.ts'

/** Directories to skip, because they contain third-party files or git's own files. */
const skipped: readonly string[] = ['.git', 'node_modules']

/**
 * Yields everything below a directory. Doesn't follow symlinks, doesn't enter `.git` or `node_modules`, and skips what it can't read. In paths, bytes
 * that aren't UTF-8 are lone surrogates, as in the paths of a sandbox's policy. A caller that stops early doesn't read the rest of a large directory.
 */
export function* pathsBelow(directory: string): Generator<{ readonly path: string; readonly isDirectory: boolean }> {
  const stack = [directory]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const entry of entriesOf(at)) {
      const found = { path: join(at, decodeName(entry.name)), isDirectory: entry.kind === 'directory' }
      yield found
      if (found.isDirectory && !skipped.includes(entry.name)) stack.push(found.path)
    }
  }
}

function* entriesOf(directory: string): Generator<ListedEntry> {
  try {
    yield* listEntries(encodePath(directory))
  } catch {
    // The directory is missing, or the user can't read it. In the latter case, commands can't read it either.
  }
}
