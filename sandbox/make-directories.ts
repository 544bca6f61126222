import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory for this user alone, and those above it that aren't there. Node's own recursive way never comes to an end where the
 * kernel says of a directory that is there that it isn't, as it does below `/proc`.
 *
 * @throws what the system says, at the first directory that can't be made
 * @internal
 */
export function makeDirectories(path: string): void {
  if (isMade(path)) return
  makeDirectories(dirname(path))
  if (!isMade(path)) mkdirSync(path, 0o700)
}

/** Whether it is there, or could be made; no where what is above it is missing. */
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
