import { userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
import process from 'node:process'

/**
 * The path that `~` stands for: `$HOME`, or if that isn't an absolute path, the home in the password database. A user with neither gets a directory that
 * doesn't exist, so that a path below it matches nothing.
 */
export function homeDirectory(): string {
  const named = process.env['HOME']
  if (named !== undefined && isAbsolute(named)) return named
  try {
    const { homedir } = userInfo()
    return isAbsolute(homedir) ? homedir : '/nonexistent'
  } catch {
    // The user ID has no entry in the password database.
    return '/nonexistent'
  }
}
