import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import { realpathSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import { isWithin } from './paths.ts'
import { isExecutable } from './locate-program.ts'

/** The directories in which operating systems install their own programs. */
const systemDirectories: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/run/current-system/sw/bin',
  '/nix/var/nix/profiles/default/bin',
]

/**
 * The `PATH` for programs that start outside all sandboxes. It contains only absolute directories that are outside all `roots` after links are
 * resolved. This matters because `npx` and `npm run` put the workspace's `node_modules/.bin` first, where commands can write.
 *
 * @param roots the directories that commands may write to; links in these paths are resolved here
 * @internal
 */
export function hostPath(roots: readonly string[], path: string | undefined = process.env['PATH']): string {
  const closed = realRoots(roots)
  return searchPath(path)
    .filter((directory) => !isReached(resolve(directory), closed))
    .join(delimiter)
}

function searchPath(path: string | undefined = process.env['PATH']): readonly string[] {
  return (path ?? systemDirectories.join(delimiter)).split(delimiter).filter(isAbsolute)
}

/**
 * Finds a program for use outside all sandboxes. Returns an absolute path in a directory of `hostPath`, never a link to a file that a command could
 * have written. A name with a slash is the path of a file that the caller has chosen, but even then commands must not be able to write to that file.
 *
 * @param from the directory from which a relative path is resolved
 * @throws SandboxError `missing-program`, which names the searched directories
 * @internal
 */
export function hostProgram(name: string, roots: readonly string[], from: string = process.cwd()): string {
  const closed = realRoots(roots)
  const files = name.includes('/') ? [resolve(from, name)] : searchPath().map((directory) => join(directory, name))
  // Most directories don't contain the program, so the first test is whether the file exists.
  const isSafe = (file: string): boolean => name.includes('/') || !isReached(resolve(dirname(file)), closed)
  const found = files.find((file) => isExecutable(file) && isSafe(file) && !isReached(file, closed))
  if (found !== undefined) return found
  const searched = name.includes('/') ? [] : hostPath(roots).split(delimiter).filter(isAbsolute)
  throw new SandboxError('missing-program', { program: name, searched, outside: roots })
}

/** Finds one of the operating system's own programs, without using `PATH`. Throws `missing-program`. */
export function systemProgram(name: string): string {
  const found = systemDirectories.map((directory) => join(directory, name)).find(isExecutable)
  if (found !== undefined) return found
  throw new SandboxError('missing-program', { program: name, searched: systemDirectories })
}

function realRoots(roots: readonly string[]): readonly string[] {
  return roots.flatMap((root) => [root, hostFileSystem.realPath(root) ?? root])
}

function isReached(path: string, roots: readonly string[]): boolean {
  const real = hostFileSystem.realPath(path) === undefined ? path : realpathSync(path)
  return roots.some((root) => root !== '/' && (isWithin(path, root) || isWithin(real, root)))
}
