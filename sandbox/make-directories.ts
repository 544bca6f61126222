import { dirname } from 'node:path'
import { mkdirSync, statSync } from './host-paths.ts'

/**
 * Creates a directory and its missing parents. Only this user can access the directories that are created. Node's own recursive mkdir isn't used,
 * because it never returns if the kernel reports an existing directory as missing, as happens below `/proc`.
 *
 * @throws the system's error for the first directory that can't be created
 * @internal
 */
export function makeDirectories(path: string): void {
  if (isMade(path)) return
  makeDirectories(dirname(path))
  if (!isMade(path)) mkdirSync(path, 0o700)
}

/** Creates the directory if it doesn't exist. Returns false if its parent is missing. */
function isMade(path: string): boolean {
  try {
    mkdirSync(path, 0o700)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' && dirname(path) !== path) return false
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return true
    throw error
  }
}
