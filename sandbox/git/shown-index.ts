import process from 'node:process'
import { shownOwner } from '../shown-owner.ts'
import { checksum, parseIndex } from './index-file.ts'

/** The offsets of the numbers in an entry's metadata (gitformat-index(5)). */
const [modifiedAt, uidAt, gidAt] = [8, 28, 32]

/**
 * Git's index of a tree, adapted to the files as commands see them. The caller's files have another owner in the sandbox, so without this the first
 * `git status` would read all of them again. Files written in the same second as the index, or later, can only be proven unchanged by their content.
 * Their entries lose their metadata: the copy of the index is newer than they are, so git would trust it (racy-git, in git's documentation).
 *
 * @param writtenSeconds when the original was written
 * @returns the index unchanged, if it can't be read
 * @internal
 */
export function shownIndex(content: Buffer, writtenSeconds: number): Buffer {
  for (const oidBytes of [20, 32]) {
    const shown = Buffer.from(content)
    const entries = parseIndex(shown, oidBytes)
    if (entries === undefined) continue
    const own = { uid: process.geteuid?.(), gid: process.getegid?.() }
    const { uid, gid } = shownOwner()
    for (const { stat } of entries) {
      if (stat.readUInt32BE(modifiedAt) >= writtenSeconds) stat.fill(0, 0, modifiedAt + 8)
      if (stat.readUInt32BE(uidAt) === own.uid) stat.writeUInt32BE(uid, uidAt)
      if (stat.readUInt32BE(gidAt) === own.gid) stat.writeUInt32BE(gid, gidAt)
    }
    const end = shown.length - oidBytes
    const hasSum = shown.subarray(end).some((byte) => byte !== 0)
    if (hasSum) checksum(shown.subarray(0, end), oidBytes).copy(shown, end)
    return shown
  }
  return content
}
