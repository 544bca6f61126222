import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { readRegular } from '../../../sandbox/index.ts'
import type { FileAfter } from './statement.ts'

/** The largest file that lands. */
const largestFile = 1024 * 1024 * 1024

/**
 * Compares a tree with what evidence says that a run left: each path that the patch changes, by its bytes, whether it can be executed, where it leads.
 * No link is followed in the last place.
 *
 * @returns a sentence for each path that differs
 */
export function differencesIn(tree: string, files: readonly FileAfter[]): readonly string[] {
  return files.flatMap((file) => {
    const why = differenceOf(join(tree, file.path), file)
    return why === undefined ? [] : [`${file.path}: ${why}`]
  })
}

function differenceOf(path: string, file: FileAfter): string | undefined {
  let stats: Stats | undefined
  try {
    stats = lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Below what is no directory.
  }
  if (file.type === 'absent') return stats === undefined ? undefined : 'the run removed it, and it is there'
  if (stats === undefined) return 'it is not there'
  if (file.type === 'directory') return stats.isDirectory() ? undefined : 'it is no directory'
  if (file.type === 'symlink') {
    return stats.isSymbolicLink() && readlinkSync(path) === file.target ? undefined : `it is no link to ${file.target}`
  }
  if (!stats.isFile()) return 'it is no file'
  // Of modes, this is what git keeps.
  if (((stats.mode & 0o100) === 0) !== ((file.mode & 0o100) === 0)) return 'it has another mode'
  return hashOf(path) === file.sha256 ? undefined : 'its content is another one'
}

function hashOf(path: string): string | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const bytes = readRegular(descriptor, largestFile)
    return bytes && createHash('sha256').update(bytes).digest('hex')
  } finally {
    closeSync(descriptor)
  }
}
