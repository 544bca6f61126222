import { closeSync, constants, fchmodSync, fchownSync, fsyncSync, openSync } from 'node:fs'
import { makeLink } from './link-target.ts'
import type { Piece } from '../change-set.ts'
import type { Directories } from './directories.ts'
import { errnoOf } from './commit-error.ts'
import type { Entry, InstallEntry, WriteChange } from './commit-steps.ts'
import { chunksOf, sameChunks } from './pieces.ts'
import { writeAll, writeChunks } from './write-all.ts'

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * Writes a change's new content under a temporary name, with the final mode and owner of the file. If the mode is given, nobody else can read the new
 * file until mode and owner are set, because the old file may have been private.
 *
 * @param isHeld whether the mode stays as it is while the file is written
 * @returns the file's mode; undefined if the system chose it
 */
export function writeFresh(
  change: WriteChange,
  { fresh, fingerprint }: InstallEntry,
  directories: Directories,
  durable: boolean,
  isHeld = false,
): number | undefined {
  const path = directories.entry(fresh.directory, fresh.name)
  if (change.symlink !== undefined) {
    makeLink(change.symlink, path)
    return undefined
  }
  const descriptor = openSync(path, createFlags, change.mode === undefined ? 0o666 : 0o600)
  try {
    if (change.pieces === undefined) writeAll(descriptor, change.content)
    else writeChunks(descriptor, sameChunks(change.pieces, fingerprint.crc, change.place.path))
    // Changing the owner clears set-user-id, so the mode is set afterwards.
    const kept = change.owner === undefined || keepOwner(descriptor, change.owner, fresh, directories)
    const mode = change.mode !== undefined && !kept ? change.mode & 0o1777 : change.mode
    if (mode !== undefined && !isHeld) fchmodSync(descriptor, mode)
    if (durable || change.isSynced === true) fsyncSync(descriptor)
    return mode
  } finally {
    closeSync(descriptor)
  }
}

/** Copies old content to a file with a temporary name. Used where no hard link to the old file is possible. */
export function copyOld(
  pieces: readonly Piece[],
  before: { readonly mode: number; readonly uid: number; readonly gid: number },
  old: Entry,
  directories: Directories,
  durable: boolean,
): void {
  const descriptor = openSync(directories.entry(old.directory, old.name), createFlags, 0o600)
  try {
    writeChunks(descriptor, chunksOf(pieces))
    const kept = keepOwner(descriptor, before, old, directories)
    fchmodSync(descriptor, kept ? before.mode : before.mode & 0o1777)
    if (durable) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Sets a file's owner if this user may do so. Root always may; other users may at least set the group if they are members of it.
 *
 * @returns whether the file has that owner now; if not, the set-user-id and set-group-id bits must not be set, because they would refer to another user
 */
function keepOwner(
  descriptor: number,
  owner: { readonly uid: number; readonly gid: number },
  entry: Entry,
  directories: Directories,
): boolean {
  const inherited = directories.owner(entry.directory)
  const uid = process.geteuid?.()
  const gid = inherited.inherits ? inherited.gid : process.getegid?.()
  if (owner.uid === uid && owner.gid === gid) return true
  if (change(descriptor, owner.uid, owner.gid)) return true
  if (owner.gid !== gid) change(descriptor, -1, owner.gid)
  return false
}

function change(descriptor: number, uid: number, gid: number): boolean {
  try {
    fchownSync(descriptor, uid, gid)
    return true
  } catch (error) {
    // EINVAL: an owner that doesn't exist in this user namespace.
    if (errnoOf(error) === 'EPERM' || errnoOf(error) === 'EINVAL') return false
    throw error
  }
}
