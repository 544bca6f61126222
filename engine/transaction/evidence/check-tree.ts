import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashOfFile } from '../tree-files.ts'
import type { FileAfter } from './statement.ts'

/**
 * Compares a tree with what evidence says of it: each path by its bytes, whether it can be executed, where it leads. No link is followed, in the last
 * place or before it. What else is in the tree is not looked at.
 *
 * @returns a sentence for each path that differs
 */
export function differencesIn(tree: string, files: readonly FileAfter[]): readonly string[] {
  const directories = new Map([[tree, true]])
  /** Whether a directory is reached through no link; each is looked at once. */
  const isReached = (directory: string): boolean => {
    const known = directories.get(directory)
    if (known !== undefined) return known
    const reached = isReached(dirname(directory)) && statsOf(directory)?.isDirectory() === true
    directories.set(directory, reached)
    return reached
  }
  return files.flatMap((file) => {
    const path = join(tree, file.path)
    // What leads out of the tree is in no evidence that we wrote.
    const isBelow = path.startsWith(tree === '/' ? tree : `${tree}/`)
    const why = isBelow ? differenceOf(path, isReached(dirname(path)), file) : 'it is not below the tree'
    return why === undefined ? [] : [`${file.path}: ${why}`]
  })
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Below what is no directory, or closed to us.
    return undefined
  }
}

function differenceOf(path: string, isReached: boolean, file: FileAfter): string | undefined {
  const stats = isReached ? statsOf(path) : undefined
  if (file.type === 'absent') return stats === undefined ? undefined : 'the run removed it, and it is there'
  if (stats === undefined) return 'it is not there'
  if (file.type === 'directory') return stats.isDirectory() ? undefined : 'it is no directory'
  if (file.type === 'symlink') {
    return stats.isSymbolicLink() && readlinkSync(path) === file.target ? undefined : `it is no link to ${file.target}`
  }
  if (!stats.isFile()) return 'it is no file'
  // Of modes, this is what git keeps.
  if (((stats.mode & 0o100) === 0) !== ((file.mode & 0o100) === 0)) return 'it has another mode'
  const hash = hashOfFile(Buffer.from(path))
  if (hash === undefined) return "it can't be read"
  return hash === file.sha256 ? undefined : 'its content is another one'
}
