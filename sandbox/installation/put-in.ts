import { closeSync, constants, fchmodSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { chmodSync, mkdirSync, openSync, statSync, symlinkSync, writeFileSync } from '../host-paths.ts'
import { openDirectory, through } from '../quarantine.ts'

/** What exists at a path: a file, a symlink (`link`), or something else. */
export type Entry =
  | { readonly kind: 'file'; readonly mode: number; readonly bytes: () => Buffer }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'other' }

/**
 * Creates `entry`, if it is a file or a symlink, at the unused path `path`, below `root` and without following symlinks. Missing directories are
 * created. If something other than a directory is in the way of one of these, `away` is called to move it.
 *
 * @throws the system's error
 */
export function putIn(root: string, path: string, entry: Entry, away: (path: string) => void): void {
  let directory = openSync(root, openDirectory)
  try {
    let at = root
    for (const part of relative(root, dirname(path))
      .split('/')
      .filter((each) => each !== '')) {
      at = join(at, part)
      const next = enter(through(directory, '.'), part, () => away(at))
      closeSync(directory)
      directory = next
    }
    const place = through(directory, basename(path))
    const make = (): void => {
      if (entry.kind === 'link') symlinkSync(entry.target, place)
      if (entry.kind === 'file') writeNewFile(place, entry)
    }
    evenIfClosed(make, through(directory, '.'))
  } finally {
    closeSync(directory)
  }
}

function enter(inside: string, name: string, clear: () => void): number {
  const path = join(inside, name)
  const open = (): number => openSync(path, openDirectory)
  try {
    return evenIfClosed(open, inside)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) clear()
    evenIfClosed(() => mkdirSync(path, 0o755), inside)
    return open()
  }
}

/**
 * Calls a function that changes `directory` or opens an entry in it. If this user isn't permitted to do that, gives the user access to the directory
 * and calls the function again. A command may have removed the directory's permissions.
 */
function evenIfClosed<T>(act: () => T, directory: string): T {
  try {
    return act()
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error
    chmodSync(directory, (statSync(directory).mode & 0o777) | 0o700)
    return act()
  }
}

function writeNewFile(path: string, { bytes, mode }: Extract<Entry, { kind: 'file' }>): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
  try {
    writeFileSync(file, bytes())
    // The mode is set afterwards, because the process's umask removes permissions when a file is created.
    fchmodSync(file, mode)
  } finally {
    closeSync(file)
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
