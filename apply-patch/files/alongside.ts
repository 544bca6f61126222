import { closeSync, constants, linkSync, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { ChangeSet } from '../change-set.ts'
import { findDifference } from './check-unchanged.ts'
import { CommitError, errnoOf, PathError } from './commit-error.ts'
import type { LockEntry } from './commit-steps.ts'
import { crc32 } from './crc32.ts'
import type { Directories } from './directories.ts'
import { isInside } from './resolve-path.ts'
import type { Alongside } from './transaction-options.ts'
import { writeAll } from './write-all.ts'

/**
 * Checks that all paths in `changes`, `directories`, `unchanged` and `locks` are absolute, contain no `.`, `..`, empty name or NUL, and are inside the directories
 * listed in `within`.
 *
 * @throws PathError
 */
export function checkAlongside({ within, changes, directories = [], unchanged, locks }: Alongside): void {
  const named = [...changes.map(({ place }) => place.key), ...unchanged.map((one) => one.key)]
  for (const key of [...named, ...directories, ...locks]) {
    const isPlain = key.startsWith('/') && key !== '/' && !/\/(?:\.{0,2}(?:\/|$))|\0/.test(key)
    if (!isPlain) throw new PathError('invalid-path', key, { resolved: key })
    if (!within.some((directory) => isInside(key, directory)))
      throw new PathError('outside-root', key, { resolved: key })
  }
}

/** The directory that contains all paths of a commit. */
export function baseOf(
  { root, unsafePaths }: Pick<ChangeSet, 'root' | 'unsafePaths'>,
  alongside: Pick<Alongside, 'within'> | undefined,
): string {
  return unsafePaths || alongside?.within.some((directory) => !isInside(directory, root)) === true ? '/' : root
}

/**
 * The journal entries of lock files. The content of these files includes `nonce`, so that they can be distinguished from the lock files of other
 * programs.
 */
export function lockEntries(locks: readonly string[], nonce: string): readonly LockEntry[] {
  const content = contentOf(nonce)
  const fingerprint = { size: content.length, crc: crc32(content), mode: undefined, symlink: undefined }
  return locks.map((lock, index) => ({
    type: 'add',
    target: { directory: dirname(lock), name: basename(lock) },
    fresh: { directory: dirname(lock), name: `.apply-patch-${nonce}-lock${index}.new` },
    fingerprint,
  }))
}

const contentOf = (nonce: string): Buffer => Buffer.from(`apply-patch ${nonce}\n`)

/**
 * Creates the lock files, and then checks that the files in `unchanged` are unchanged. If hard links are possible, a lock file appears only when its content is
 * complete.
 *
 * @throws CommitError `changed`, which names the lock that somebody else holds, or the file that changed
 */
export function takeLocks(
  { unchanged }: Alongside,
  entries: readonly LockEntry[],
  nonce: string,
  directories: Directories,
): void {
  for (const { fresh, target } of entries) {
    const [from, to] = [fresh, target].map(({ directory, name }) => directories.entry(directory, name)) as [
      string,
      string,
    ]
    create(from, nonce)
    try {
      linkSync(from, to)
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') throw changed(`${target.directory}/${target.name}`, 'appeared', error)
      // This file system has no hard links.
      create(to, nonce)
    }
  }
  for (const { key, before } of unchanged) {
    const how = findDifference(before, directories.entry(dirname(key), basename(key)))
    if (how !== undefined) throw changed(key, how)
  }
}

function create(path: string, nonce: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const descriptor = openSync(path, flags, 0o644)
  try {
    writeAll(descriptor, [contentOf(nonce)])
  } finally {
    closeSync(descriptor)
  }
}

function changed(key: string, how: 'appeared' | ReturnType<typeof findDifference>, cause?: unknown): CommitError {
  const differences = [{ path: key, key, how: how ?? 'content' }]
  return new CommitError('changed', { operation: 'prepare', path: key, key, differences, cause })
}

/** The change set together with what changes alongside it. */
export function withAlongside(changeSet: ChangeSet, { changes, directories = [] }: Alongside): ChangeSet {
  const made = directories.map((key) => ({ type: 'make' as const, key }))
  return {
    ...changeSet,
    changes: [...changeSet.changes, ...changes],
    directories: [...(changeSet.directories ?? []), ...made],
  }
}
