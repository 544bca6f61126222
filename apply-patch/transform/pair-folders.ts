import { lstatSync, opendirSync, readFileSync, type Dirent, type Stats } from 'node:fs'
import { join } from 'node:path'
import { PatchError } from '../patch-error.ts'
import type { FilePair } from './file-pair.ts'

/** How much of a folder is read: the contents of all its files are in memory at the same time. */
const mostEntries = 1_000_000
const mostBytes = 1024 ** 3

/**
 * Pairs the files of two folders by their paths, without `.git`, and without symlinks and empty folders.
 *
 * @throws PatchError `not-expressible` for a folder that is too large to compare
 */
export function pairFolders(before: string, after: string): readonly FilePair[] {
  const paths = new Set([...filesIn(before), ...filesIn(after)])
  const [readBefore, readAfter] = [reader(before), reader(after)]
  return [...paths].toSorted().map((path) => ({
    path,
    before: readBefore(path),
    after: readAfter(path),
    modes: { before: modeIn(before, path), after: modeIn(after, path) },
  }))
}

function filesIn(folder: string): readonly string[] {
  const found: string[] = []
  const pending = ['']
  let looked = 0
  for (const below of pending) {
    for (const entry of entriesOf(join(folder, below))) {
      if (++looked > mostEntries) throw tooLarge(folder)
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.name === '.git') continue
      if (entry.isDirectory()) pending.push(path)
      else if (entry.isFile()) found.push(path)
    }
  }
  return found
}

/** Yields one entry after the other, because a folder with too many of them would fill the memory. */
function* entriesOf(folder: string): Generator<Dirent> {
  const opened = opendirSync(folder)
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry
  } finally {
    opened.closeSync()
  }
}

/** Returns a function that reads the files of a folder. The result is undefined for a path at which there is no file. */
function reader(folder: string): (path: string) => Buffer | undefined {
  let bytes = 0
  return (path) => {
    const stats = statIn(folder, path)
    if (stats === undefined) return undefined
    bytes += stats.size
    if (bytes > mostBytes) throw tooLarge(folder)
    return readFileSync(join(folder, path))
  }
}

function tooLarge(folder: string): PatchError {
  return new PatchError('not-expressible', [{ code: 'difference', path: folder, reason: 'too-large' }])
}

function modeIn(folder: string, path: string): number | undefined {
  return statIn(folder, path)?.mode
}

/** Undefined if there is no file at the path. */
function statIn(folder: string, path: string): Stats | undefined {
  try {
    const stats = lstatSync(join(folder, path), { throwIfNoEntry: false })
    return stats?.isFile() === true ? stats : undefined
  } catch (error) {
    // A parent of the path is a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}
