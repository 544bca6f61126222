import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashOfFile } from '../tree-files.ts'
import type { FileAfter } from './statement.ts'

/**
 * Compares a tree with the evidence about it: the bytes of each file, whether the file is executable, and where each link points. No links are
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
  if (file.type === 'directory') return stats.isDirectory() ? undefined : 'it is not a directory'
  if (file.type === 'symlink') {
    return stats.isSymbolicLink() && readlinkSync(path) === file.target
      ? undefined
      : `it is not a link to ${file.target}`
  }
  if (!stats.isFile()) return 'it is not a regular file'
  // The only part of a mode that git records is whether the file is executable.
  if (((stats.mode & 0o100) === 0) !== ((file.mode & 0o100) === 0)) return 'its mode differs'
  const hash = hashOfFile(Buffer.from(path))
  if (hash === undefined) return "it can't be read"
  return hash === file.sha256 ? undefined : 'its content differs'
}
