import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { SandboxError } from './errors.ts'

/**
 * The file that `program` means for a command starting in `cwd` with this `PATH`. Looked up before anything is
 * spawned, so that a missing program is an error that says where it was searched. Throws `missing-program`.
 */
export function locateProgram(program: string, cwd: string, path: string | undefined): string {
  if (program.includes('/')) {
    const file = resolve(cwd, program)
    if (isExecutable(file)) return file
    throw new SandboxError('missing-program', { program: file, searched: [] })
  }
  const directories = (path ?? '/usr/local/bin:/usr/bin:/bin').split(':').filter(isAbsolute)
  for (const directory of directories) {
    const file = join(directory, program)
    if (isExecutable(file)) return file
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
