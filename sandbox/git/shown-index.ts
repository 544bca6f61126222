import type { BigIntStats } from 'node:fs'
import process from 'node:process'
import { shownOwner } from '../shown-owner.ts'
import { checksum, parseIndex, type IndexEntry } from './index-file.ts'

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
  const own = { uid: process.geteuid?.(), gid: process.getegid?.() }
  const { uid, gid } = shownOwner()
  return withStats(content, ({ stat }) => {
    if (stat.readUInt32BE(modifiedAt) >= writtenSeconds) stat.fill(0, 0, modifiedAt + 8)
    if (stat.readUInt32BE(uidAt) === own.uid) stat.writeUInt32BE(uid, uidAt)
    if (stat.readUInt32BE(gidAt) === own.gid) stat.writeUInt32BE(gid, gidAt)
  })
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
  return withStats(content, ({ path, stat }) => {
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
function withStats(content: Buffer, change: (entry: IndexEntry) => void): Buffer {
  for (const oidBytes of [20, 32]) {
    const shown = Buffer.from(content)
    const entries = parseIndex(shown, oidBytes)
    if (entries === undefined) continue
    for (const entry of entries) change(entry)
    const end = shown.length - oidBytes
    const hasSum = shown.subarray(end).some((byte) => byte !== 0)
    if (hasSum) checksum(shown.subarray(0, end), oidBytes).copy(shown, end)
    return shown
  }
  return content
}
