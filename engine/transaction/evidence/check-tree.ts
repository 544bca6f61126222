import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashOfFile } from '../tree-files.ts'
import type { FileAfter } from './statement.ts'

/**
 * Compares a tree with the evidence about it: the bytes of each file, what its mode allows, and where each link points. No links are
 * followed, neither at the end of a path nor in its parents. Files that the evidence doesn't name are ignored.
 *
 * @returns a sentence for each path that differs
 */
export function differencesIn(tree: string, files: readonly FileAfter[]): readonly string[] {
  const directories = new Map([[tree, true]])
  /** Whether no part of the directory's path is a link. The result is cached. */
  const isReached = (directory: string): boolean => {
    const known = directories.get(directory)
    if (known !== undefined) return known
    const reached = isReached(dirname(directory)) && statsOf(directory)?.isDirectory() === true
    directories.set(directory, reached)
    return reached
  }
  return files.flatMap((file) => {
    const path = join(tree, file.path)
    // Evidence that this program wrote never names a path outside the tree, but other evidence might.
    const isBelow = path.startsWith(tree === '/' ? tree : `${tree}/`)
    const why = isBelow ? differenceOf(path, isReached(dirname(path)), file) : 'it is outside the tree'
    return why === undefined ? [] : [`${file.path}: ${why}`]
  })
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // The parent isn't a directory, or can't be accessed.
    return undefined
  }
}

function differenceOf(path: string, isReached: boolean, file: FileAfter): string | undefined {
  const stats = isReached ? statsOf(path) : undefined
  if (file.type === 'absent') return stats === undefined ? undefined : 'the run removed it, but it exists'
  if (stats === undefined) return 'it does not exist'
  if (file.type === 'directory') {
    if (!stats.isDirectory()) return 'it is not a directory'
    return file.mode === undefined ? undefined : allowedBy(stats.mode & ~setsUser, file.mode)
  }
  if (file.type === 'symlink') {
    return stats.isSymbolicLink() && readlinkSync(path) === file.target
      ? undefined
      : `it is not a link to ${file.target}`
  }
  if (!stats.isFile()) return 'it is not a regular file'
  // The only part of a mode that git records is whether the file is executable. Who else may read or write a file of a checkout depends on the umask.
  if (((stats.mode & 0o100) === 0) !== ((file.mode & 0o100) === 0)) return 'its mode differs'
  const allowed = allowedBy(stats.mode, file.mode)
  if (allowed !== undefined) return allowed
  const hash = hashOfFile(Buffer.from(path))
  if (hash === undefined) return "it can't be read"
  return hash === file.sha256 ? undefined : 'its content differs'
}

/** The set-user-id and set-group-id bits. Those of a directory give nobody any rights. */
const setsUser = 0o6000
const worldWritable = 0o002

/** What a mode allows that the mode in the evidence doesn't. No checkout adds these bits. */
function allowedBy(mode: number, stated: number): string | undefined {
  const more = mode & ~stated
  if ((more & setsUser) !== 0) return 'it runs with the rights of its owner or group (set-user-id or set-group-id)'
  return (more & worldWritable) === 0 ? undefined : 'every user may write to it'
}
