import type { BigIntStats } from 'node:fs'
import process from 'node:process'
import { shownOwner } from '../shown-owner.ts'
import { checksum, layoutAt, parseIndex } from './index-file.ts'

/** The offset of the first entry, the length of an entry's metadata, and the offsets of the owner in it (gitformat-index(5)). */
const [firstAt, statBytes, uidAt, gidAt] = [12, 40, 28, 32]

/** The id that user namespaces show for all owners that they don't know (user_namespaces(7)). */
const overflowId = 65534

/**
 * Git's index of a tree, adapted to the files as commands see them in a sandbox made of namespaces. Files have another owner there, so without this the
 * first `git status` would read all of them again. Give the copy the time of the original: git compares the content of files that are as new as the
 * index, because their metadata proves nothing (racy-git, in git's documentation).
 *
 * Its paths aren't validated, because that takes several times as long.
 *
 * @returns the index unchanged, if it can't be read or its first file has the same owner there
 * @internal
 */
export function shownIndex(content: Buffer): Buffer {
  const { uid, gid } = shownOwner()
  const [ownUid, ownGid] = [process.geteuid?.(), process.getegid?.()]
  const uidOf = (id: number): number => (id === ownUid || id === uid ? uid : overflowId)
  const gidOf = (id: number): number => (id === ownGid || id === gid ? gid : overflowId)
  if (content.length < firstAt + statBytes || content.toString('latin1', 0, 4) !== 'DIRC') return content
  const [firstUid, firstGid] = [content.readUInt32BE(firstAt + uidAt), content.readUInt32BE(firstAt + gidAt)]
  if (firstUid === uidOf(firstUid) && firstGid === gidOf(firstGid)) return content
  return withStats(content, statsOfEntries, (stat) => {
    stat.writeUInt32BE(uidOf(stat.readUInt32BE(uidAt)), uidAt)
    stat.writeUInt32BE(gidOf(stat.readUInt32BE(gidAt)), gidAt)
  })
}

/** The metadata of an index's entries; undefined if its object ids don't have this length, or it can't be read. */
function statsOfEntries(content: Buffer, oidBytes: number): readonly Buffer[] | undefined {
  const [version, count] = [content.readUInt32BE(4), content.readUInt32BE(8)]
  if (version < 2 || version > 4) return undefined
  const stats: Buffer[] = []
  for (let [at, length] = [firstAt, 0]; stats.length < count;) {
    const layout = layoutAt(content, at, oidBytes, length)
    if (layout === undefined) return undefined
    length = layout.kept + layout.pathEnd - layout.pathAt
    // Every entry says how long its path is.
    if ((layout.flags & 0xfff) !== Math.min(length, 0xfff)) return undefined
    stats.push(content.subarray(at, at + statBytes))
    at = layout.next
  }
  return stats
}

/**
 * Git's index of a tree, adapted to a copy of the tree as commands see it. The copies are other files, so without this each `git status` that may not
 * write to the index would read all of them again.
 *
 * @param copyOf the metadata of a file's copy, by its path in the index, if the index is known to describe the original; undefined if in doubt: git then
 * reads the copy
 * @returns the index unchanged, if it can't be read
 * @internal
 */
export function indexOfCopy(content: Buffer, copyOf: (path: string) => BigIntStats | undefined): Buffer {
  const { uid, gid } = shownOwner()
  return withStats(content, parseIndex, ({ path, stat }) => {
    const copy = copyOf(path)
    if (copy === undefined) return
    const { ctimeNs, mtimeNs, dev, ino } = copy
    const numbers = [ctimeNs / second, ctimeNs % second, mtimeNs / second, mtimeNs % second, dev, ino]
    for (const [index, number] of numbers.entries()) stat.writeUInt32BE(Number(BigInt.asUintN(32, number)), index * 4)
    stat.writeUInt32BE(uid, uidAt)
    stat.writeUInt32BE(gid, gidAt)
  })
}

const second = 1_000_000_000n

/** The index with the metadata of its entries changed in place, and a new checksum if it had one. */
function withStats<Entry>(
  content: Buffer,
  read: (content: Buffer, oidBytes: number) => readonly Entry[] | undefined,
  change: (entry: Entry) => void,
): Buffer {
  for (const oidBytes of [20, 32]) {
    const shown = Buffer.from(content)
    const entries = read(shown, oidBytes)
    if (entries === undefined) continue
    for (const entry of entries) change(entry)
    const end = shown.length - oidBytes
    const hasSum = shown.subarray(end).some((byte) => byte !== 0)
    if (hasSum) checksum(shown.subarray(0, end), oidBytes).copy(shown, end)
    return shown
  }
  return content
}
