import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { SandboxError } from './sandbox-error.ts'
import { shownPath, sourcePath, type View } from './views/view-paths.ts'

/**
 * The file that `program` means for a command starting in `cwd` with this `PATH`. Looked up before anything is
 * spawned, so that a missing program is an error that says where it was searched. Throws `missing-program`.
 *
 * @param cwd where it lies on the host
 * @param views what is looked through as the command will see it. Default: it sees what is there
 * @returns the path by which the command sees it
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
    // Most of what is asked for isn't there, and an error takes longer to make than to ask.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Not there, not ours to see or not executable: for a lookup all the same.
    return false
  }
}
