import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a directory that only this user can access, and its missing parents. Node's own recursive mkdir never returns if the kernel reports an
 * existing directory as missing, as it does below `/proc`.
 *
 * @throws the system's error for the first directory that can't be created
 * @internal
 */
export function makeDirectories(path: string): void {
  if (isMade(path)) return
  makeDirectories(dirname(path))
  if (!isMade(path)) mkdirSync(path, 0o700)
}

/** Whether the directory exists or could be created. False if its parent is missing. */
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
