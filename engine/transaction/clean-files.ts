import { statSync } from 'node:fs'
import { join } from 'node:path'
import { gitDirectoriesOf, parseIndex, readHostFile, type IndexEntry } from '../../sandbox/index.ts'
import type { Stamped } from './view-manifest.ts'

/** Returns the id of the git object that has a file's content, according to git's index; undefined in case of doubt. */
type CleanBlobs = (key: string, stats: Stamped) => string | undefined

/** The git index of a work tree, and which files match it. */
export type CleanFiles = {
  readonly blobOf: CleanBlobs
  /** The bytes and the entries of the index. Absent: the index doesn't exist, or could not be read or parsed. */
  readonly index?: { readonly content: Buffer; readonly entries: readonly IndexEntry[] }
}

/** The maximum size, in bytes, of a git index. A larger index isn't read. */
export const largestIndex = 1024 * 1024 * 1024

/** The byte offsets of fields in an index entry (gitformat-index(5)). */
const [changedAt, modifiedAt, inodeAt, sizeAt] = [0, 8, 20, 36]

/**
 * Finds out which files of a work tree match git's index. As in git, the times, sizes and inode numbers in the index decide. A file that was written
 * at the same moment as the index, or later, doesn't count as matching, because git may have missed its last change.
 *
 * @returns a function that parses the index when it is first called. The index itself is read at once, because it must be read before the metadata of the
 * files: otherwise, it could describe what was written to a file in the same second, after its metadata was read
 */
export function cleanFiles(root: string): () => CleanFiles {
  return readIndex(join(gitDirectoriesOf(root)?.own ?? join(root, '.git'), 'index'))
}

/** Does the same as `cleanFiles`, with the path of an index, or of a copy of it with the same times, which is parsed at once. */
export function filesMatching(file: string): CleanFiles {
  return readIndex(file)()
}

function readIndex(file: string): () => CleanFiles {
  const content = readHostFile(file, { maxBytes: largestIndex })
  const written = statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs
  let parsed: CleanFiles | undefined
  return () => (parsed ??= content === undefined || written === undefined ? unknown : matching(content, written))
}

const unknown: CleanFiles = { blobOf: () => undefined }

function matching(content: Buffer, written: bigint): CleanFiles {
  const entries = parseIndex(content, 20) ?? parseIndex(content, 32)
  if (entries === undefined) return unknown
  const known = new Map(entries.filter(isPlain).map((entry) => [entry.path, entry]))
  const blobOf: CleanBlobs = (key, stats) => {
    const entry = known.get(key)
    if (entry === undefined || stats.mtimeNs >= written) return undefined
    const isSame = (at: number, value: bigint): boolean => entry.stat.readUInt32BE(at) === Number(value & 0xffffffffn)
    const isClean =
      isSame(sizeAt, stats.size) &&
      isSame(inodeAt, stats.ino) &&
      isSame(modifiedAt, stats.mtimeNs / 1_000_000_000n) &&
      isSame(changedAt, stats.ctimeNs / 1_000_000_000n)
    return isClean ? entry.oid : undefined
  }
  return { blobOf, index: { content, entries } }
}

function isPlain({ stage, intentToAdd, assumeValid, skipWorktree }: IndexEntry): boolean {
  return stage === 0 && !intentToAdd && !assumeValid && !skipWorktree
}
