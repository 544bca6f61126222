import type { BigIntStats } from 'node:fs'
import process from 'node:process'
import { shownOwner } from '../shown-owner.ts'
import { checksum, firstEntryAt, layoutAt, statBytes, type IndexEntry } from './index-file.ts'

/** The offsets of the owner's ids in an entry's metadata (gitformat-index(5)). */
const [uidAt, gidAt] = [28, 32]

/** The id that the kernel shows for owners that have no id in the user namespace (user_namespaces(7)). */
const overflowId = 65534

/**
 * Adapts the git index of a work tree to a sandbox made of namespaces. In such a sandbox, commands see files with a different owner, so with the
 * original index, the first `git status` would read all files again. The caller must give the adapted index the modification time of the original:
 * git compares the content of files that are as new as the index, because their metadata proves nothing (racy-git, in git's documentation).
 *
 * The paths in the index aren't validated, because that would take several times as long.
 *
 * @returns the adapted index. It is unchanged if it can't be parsed, or if its first file has the same owner in the sandbox
 * @internal
 */
export function shownIndex(content: Buffer): Buffer {
  const { uid, gid } = shownOwner()
  const [ownUid, ownGid] = [process.geteuid?.(), process.getegid?.()]
  const uidOf = (id: number): number => (id === ownUid || id === uid ? uid : overflowId)
  const gidOf = (id: number): number => (id === ownGid || id === gid ? gid : overflowId)
  if (content.length < firstEntryAt + statBytes || content.toString('latin1', 0, 4) !== 'DIRC') return content
  const [firstUid, firstGid] = [content.readUInt32BE(firstEntryAt + uidAt), content.readUInt32BE(firstEntryAt + gidAt)]
  if (firstUid === uidOf(firstUid) && firstGid === gidOf(firstGid)) return content
  for (const oidBytes of [20, 32]) {
    const shown = Buffer.from(content)
    const stats = statsOfEntries(shown, oidBytes)
    if (stats === undefined) continue
    for (const stat of stats) {
      stat.writeUInt32BE(uidOf(stat.readUInt32BE(uidAt)), uidAt)
      stat.writeUInt32BE(gidOf(stat.readUInt32BE(gidAt)), gidAt)
    }
    sumAgain(shown, oidBytes)
    return shown
  }
  return content
}

/** The metadata of an index's entries; undefined if the index can't be parsed, or if its object ids don't have `oidBytes` bytes. */
function statsOfEntries(content: Buffer, oidBytes: number): readonly Buffer[] | undefined {
  const [version, count] = [content.readUInt32BE(4), content.readUInt32BE(8)]
  if (version < 2 || version > 4) return undefined
  const stats: Buffer[] = []
  for (let [at, length] = [firstEntryAt, 0]; stats.length < count;) {
    const layout = layoutAt(content, at, oidBytes, length)
    if (layout === undefined) return undefined
    length = layout.kept + layout.pathEnd - layout.pathAt
    // The flags of an entry contain the length of its path. If the lengths differ, the object ids don't have `oidBytes` bytes.
    if ((layout.flags & 0xfff) !== Math.min(length, 0xfff)) return undefined
    stats.push(content.subarray(at, at + statBytes))
    at = layout.next
  }
  return stats
}

/** The part of a copied file's metadata that git compares with its index. */
export type CopyStats = Pick<BigIntStats, 'ctimeNs' | 'mtimeNs' | 'dev' | 'ino'>

/**
 * Adapts the git index of a work tree to a copy of the work tree. The copied files have different metadata. So with the original index, every `git
 * status` that can't write the index would read all files again.
 *
 * @param entries the entries of this index, as `parseIndex` returned them for `content`
 * @param copyOf returns the metadata of the copy of a file (given by its path in the index) if the index certainly describes the original file.
 * Otherwise it returns undefined, and git reads the copy
 * @internal
 */
export function indexOfCopy(
  content: Buffer,
  entries: readonly IndexEntry[],
  copyOf: (path: string) => CopyStats | undefined,
): Buffer {
  const { uid, gid } = shownOwner()
  const adapted = Buffer.from(content)
  // A DataView is used because its methods, until they are compiled, are several times as fast as those of a Buffer, and there are eight calls for
  // each entry.
  const numbers = new DataView(adapted.buffer, adapted.byteOffset, adapted.length)
  const setTime = (at: number, nanoseconds: bigint): void => {
    numbers.setUint32(at, Number(nanoseconds / second))
    numbers.setUint32(at + 4, Number(nanoseconds % second))
  }
  for (const { path, stat } of entries) {
    const copy = copyOf(path)
    if (copy === undefined) continue
    const at = stat.byteOffset - content.byteOffset
    setTime(at, copy.ctimeNs)
    setTime(at + 8, copy.mtimeNs)
    numbers.setUint32(at + 16, Number(copy.dev & 0xffffffffn))
    numbers.setUint32(at + 20, Number(copy.ino & 0xffffffffn))
    numbers.setUint32(at + uidAt, uid)
    numbers.setUint32(at + gidAt, gid)
  }
  sumAgain(adapted, (entries[0]?.oid.length ?? 40) / 2)
  return adapted
}

const second = 1_000_000_000n

/** Updates the checksum at the end of an index, if it has one. */
function sumAgain(content: Buffer, oidBytes: number): void {
  const end = content.length - oidBytes
  const hasSum = content.subarray(end).some((byte) => byte !== 0)
  if (hasSum) checksum(content.subarray(0, end), oidBytes).copy(content, end)
}
