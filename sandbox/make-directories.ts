import { dirname, resolve } from 'node:path'
import { homeDirectory } from './homes.ts'
import { mkdirSync, statSync } from './host-paths.ts'

/**
 * Creates a directory and its missing parents. Only this user can access the directories that are created. Node's own recursive mkdir isn't used,
 * because it never returns if the kernel reports an existing directory as missing, as happens below `/proc`. The user's home directory is never created: other
 * programs take a home that is there for one that somebody set up, and `/nonexistent` is reserved as one that never is.
 *
 * @returns the directories that were created, outermost first
 * @throws the system's error for the first directory that can't be created; ENOENT for a home that is missing
 * @internal
 */
export function makeDirectories(path: string): readonly string[] {
  if (path === resolve(homeDirectory())) {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return []
    throw Object.assign(new Error(`the home directory ${path} doesn't exist`), { code: 'ENOENT' })
  }
  const state = make(path)
  if (state !== 'parent missing') return state === 'made' ? [path] : []
  const above = makeDirectories(dirname(path))
  const again = make(path)
  if (again === 'parent missing') mkdirSync(path, 0o700)
  return again === 'there' ? above : [...above, path]
}

function make(path: string): 'made' | 'there' | 'parent missing' {
  try {
    mkdirSync(path, 0o700)
    return 'made'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' && dirname(path) !== path) return 'parent missing'
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return 'there'
    throw error
  }
}
