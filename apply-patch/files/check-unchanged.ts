import { accessSync, constants, lstatSync, type BigIntStats } from 'node:fs'
import type { FileState } from '../change-set.ts'
import { errnoOf, type Difference } from './commit-error.ts'
import { readTarget } from './link-target.ts'
import { crcOf, readState, sizeOf } from './read-state.ts'

/**
 * How the entry at a path differs from its state when the plan was made; undefined if it doesn't.
 *
 * In two cases the change time proves nothing, so the content is compared too. First, the time may differ only because a link was created, or because
 * a mode was set and reset. Second, if the file was written just before the plan was made, another write may have left it with the same time.
 */
export function findDifference(before: FileState, path: string): Difference | undefined {
  return compare(before, path, (stats, { changedNs, settled }) => stats.ctimeNs === changedNs && settled === true)
}

/** Like `findDifference`, but for an entry that the commit itself has linked or renamed, which changed its change time. */
export function findLaterDifference(before: FileState, path: string): Difference | undefined {
  return compare(before, path, () => true)
}

type FileBefore = Extract<FileState, { type: 'file' | 'unread' }>

/** @param isProof whether the facts about the very same file, with the same size, times and mode, prove that its content is the same */
function compare(
  before: FileState,
  path: string,
  isProof: (stats: BigIntStats, before: FileBefore) => boolean,
): Difference | undefined {
  const stats = lstatOf(path)
  if (before.type === 'absent') return stats === undefined ? undefined : 'appeared'
  if (stats === undefined) return 'vanished'
  switch (before.type) {
    case 'directory':
      return stats.isDirectory() ? undefined : 'kind'
    case 'other':
      return stats.isDirectory() || stats.isFile() || stats.isSymbolicLink() ? 'kind' : undefined
    case 'symlink':
      if (!stats.isSymbolicLink()) return 'kind'
      return readTarget(path) === before.target ? undefined : 'content'
    case 'file':
    case 'unread': {
      if (!stats.isFile()) return 'kind'
      // If an overlay has copied a file to another file system because the commit linked it, it is another inode with the same facts and content.
      const isSameFile = stats.dev === before.device && stats.ino === before.inode
      const how = compareFacts(before, stats)
      if (how !== undefined) return isSameFile ? how : 'identity'
      if (isSameFile && isProof(stats, before)) return undefined
      return hasContent(before, path) ? undefined : isSameFile ? 'content' : 'identity'
    }
    default:
      return before satisfies never
  }
}

function compareFacts(before: FileBefore, stats: BigIntStats): Difference | undefined {
  if (stats.size !== BigInt(sizeOf(before))) return 'size'
  if (stats.mtimeNs !== before.modifiedNs) return 'time'
  if (Number(stats.mode & 0o7777n) !== before.mode) return 'mode'
  return Number(stats.uid) === before.uid && Number(stats.gid) === before.gid ? undefined : 'owner'
}

function hasContent(before: FileBefore, path: string): boolean {
  if (before.type === 'unread') return crcOf(path, before.size) === before.crc
  const now = readState(path)
  return now.type === 'file' && now.bytes.equals(before.bytes)
}

/** Whether this user may write a file's content. This is checked because a rename would replace even a file that is read-only for this user. */
export function mayWrite(before: FileState, path: string): boolean {
  if (before.type !== 'file' && before.type !== 'unread') return true
  if (before.uid === process.geteuid?.() && (before.mode & 0o200) !== 0) return true
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return false
    throw error
  }
}

function lstatOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}
