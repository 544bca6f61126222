import { userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
import process from 'node:process'

/**
 * The path that `~` stands for: `$HOME`, or if that isn't an absolute path, the home in the password database. If neither exists, the path is that of
 * a directory that doesn't exist, so that patterns below `~` match nothing.
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
