/** Operations on single entries, for cleaning up and rolling back. They tolerate what an earlier attempt has already done. */
import { lstatSync, rmdirSync, unlinkSync, type BigIntStats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { errnoOf } from './commit-error.ts'
import { pathOf, type Entry, type Fingerprint } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { readTarget } from './link-target.ts'
import { mayStay, type Leftover } from './leftovers.ts'
import { crcOf } from './read-state.ts'

/** Whether an entry is still as the patch left it. */
export function matches(fingerprint: Fingerprint, stats: BigIntStats, entry: Entry, directories: Directories): boolean {
  if (fingerprint.symlink !== undefined) {
    return stats.isSymbolicLink() && readTarget(at(entry, directories)) === fingerprint.symlink
  }
  if (!stats.isFile() || stats.size !== BigInt(fingerprint.size)) return false
  return crcOf(at(entry, directories), fingerprint.size) === fingerprint.crc
}

/** The result of `lstat` for an entry; undefined if the entry, or its directory, is missing. */
export function find(entry: Entry, directories: Directories): BigIntStats | undefined {
  try {
    return lstatSync(at(entry, directories), { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Removes a temporary file. If its directory forbids that, the file stays, because it does no harm. */
export function removeOurs(entry: Entry, directories: Directories): readonly Leftover[] {
  return attempt(entry, () => remove(entry, directories)).map((each) =>
    mayStay(each, 'a temporary file, which does no harm'),
  )
}

/** Removes an entry. A missing entry is not an error. */
export function remove(entry: Entry, directories: Directories): undefined {
  try {
    unlinkSync(at(entry, directories))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error
  }
}

/** Removes a directory that the commit created or emptied. If it contains entries, it stays, because other programs must have added them. */
export function removeDirectory(path: string, directories: Directories): readonly Leftover[] {
  const entry = { directory: dirname(path), name: basename(path) }
  directories.forget(path)
  return attempt(entry, () => {
    try {
      rmdirSync(at(entry, directories))
    } catch (error) {
      const errno = errnoOf(error) ?? ''
      if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(errno)) throw error
    }
    return undefined
  })
}

/** Carries out an operation on an entry. @returns the entry and the reason if it fails or returns `changed`; otherwise an empty list */
export function attempt(entry: Entry, act: () => 'changed' | undefined): readonly Leftover[] {
  try {
    const result = act()
    return result === undefined ? [] : [{ path: pathOf(entry), reason: result }]
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    return [{ path: pathOf(entry), reason: errno }]
  }
}

export function at(entry: Entry, directories: Directories): string {
  return directories.entry(entry.directory, entry.name)
}

export function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}
