import { statSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { gitDirectoriesOf, parseIndex, readHostFile, type IndexEntry } from '../../sandbox/index.ts'

/** Returns the id of the git object that has a file's content, according to git's index; undefined in case of doubt. */
export type CleanBlobs = (key: string, stats: BigIntStats) => string | undefined

/** The maximum size of a git index that is read, in bytes. */
export const largestIndex = 1024 * 1024 * 1024

/** The byte offsets of fields in an index entry (gitformat-index(5)). */
const [changedAt, modifiedAt, inodeAt, sizeAt] = [0, 8, 20, 36]

/**
 * Finds out which files of a work tree match git's index. As in git, the file times and sizes in the index decide. A file that was written at the
 * same moment as the index, or later, doesn't count as matching, because git may have missed its last change.
 */
export function cleanBlobs(root: string): CleanBlobs {
  const file = join(gitDirectoriesOf(root)?.own ?? join(root, '.git'), 'index')
  const content = readHostFile(file, { maxBytes: largestIndex })
  const written = statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs
  const entries = content && (parseIndex(content, 20) ?? parseIndex(content, 32))
  if (entries === undefined || written === undefined) return () => undefined
  const known = new Map(entries.filter(isPlain).map((entry) => [entry.path, entry]))
  return (key, stats) => {
    const entry = known.get(key)
    if (entry === undefined || stats.mtimeNs >= written) return undefined
    const number = (at: number): number => entry.stat.readUInt32BE(at)
    const isSame =
      BigInt(number(sizeAt)) === BigInt.asUintN(32, stats.size) &&
      BigInt(number(inodeAt)) === BigInt.asUintN(32, stats.ino) &&
      BigInt(number(modifiedAt)) === BigInt.asUintN(32, stats.mtimeNs / 1_000_000_000n) &&
      BigInt(number(changedAt)) === BigInt.asUintN(32, stats.ctimeNs / 1_000_000_000n)
    return isSame ? entry.oid : undefined
  }
}

function isPlain({ stage, intentToAdd, assumeValid, skipWorktree }: IndexEntry): boolean {
  return stage === 0 && !intentToAdd && !assumeValid && !skipWorktree
}
