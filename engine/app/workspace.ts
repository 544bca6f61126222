import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { explainSystemFault } from '../core/system-fault.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Returns the real path of the directory in which a run is to work.
 *
 * @param directory the path as the user gave it
 * @param option the option that named the directory, for messages
 * @throws UserError `usage` if it is not a directory that can be entered
 */
export function findWorkspace(directory: string, option = '-C'): string {
  const path = resolve(directory)
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) {
      // Otherwise a command would fail as if its program were missing.
      accessSync(real, constants.R_OK | constants.X_OK)
      return real
    }
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such directory' : explainSystemFault(error)
    throw new UserError('usage', `${option} ${path}: ${why ?? (error as Error).message}`, { cause: error })
  }
  throw new UserError('usage', `${option} ${path}: not a directory`)
}

/** The root of the git repository to which a directory belongs; undefined if it belongs to none. */
export function findRepository(workspace: string): string | undefined {
  for (let directory = workspace; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}

/**
 * Refuses a workspace outside any git repository, because changes could be neither seen nor undone there.
 *
 * @throws UserError `usage` with a message that names the flag that permits the run anyway
 */
export function requireRepository(workspace: string): void {
  if (findRepository(workspace) !== undefined) return
  throw new UserError(
    'usage',
    // Clients of Codex recognize this failure by the first five words.
    `Not inside a trusted directory: ${workspace} is not in a git repository, so a run's changes there could not be reverted. ` +
      'Run git init first, or pass --skip-git-repo-check.',
  )
}
