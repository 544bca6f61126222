import { constants } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { accessSync, statSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { shownPath, sourcePath, type View } from './views/view-paths.ts'

/**
 * Finds the file that `program` refers to in a command that starts in `cwd` with this `PATH`. This is done before any process is started, so that the
 * error about a missing program can name the searched directories. Throws `missing-program`.
 *
 * @param cwd the path of the starting directory on the host
 * @param views the private views, in which the command sees files of the host at different paths. Default: none
 * @returns the path at which the command sees the file
 */
export function locateProgram(
  program: string,
  cwd: string,
  path: string | undefined,
  views: readonly View[] = [],
): string {
  const seen = (file: string): string | undefined =>
    isExecutable(sourcePath(file, views)) ? shownPath(file, views) : undefined
  if (program.includes('/')) {
    const file = resolve(cwd, program)
    const found = seen(file)
    if (found !== undefined) return found
    throw new SandboxError('missing-program', { program: shownPath(file, views), searched: [] })
  }
  const directories = (path ?? '/usr/local/bin:/usr/bin:/bin').split(':').filter(isAbsolute)
  for (const directory of directories) {
    const found = seen(join(directory, program))
    if (found !== undefined) return found
  }
  throw new SandboxError('missing-program', { program, searched: directories })
}

/** Throws `missing-directory` unless `path` is a directory; `role` names it in the message. */
export function requireDirectory(path: string, role: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new SandboxError('missing-directory', { path, role })
  }
}

/** Whether `file` is a regular file that this user may execute. */
export function isExecutable(file: string): boolean {
  try {
    // Most of the paths that a lookup tries don't exist, and creating an error takes longer than checking first.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // For the lookup, it doesn't matter whether the file is missing, unreadable or not executable.
    return false
  }
}
