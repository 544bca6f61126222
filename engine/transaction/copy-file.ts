import { chmodSync, constants, copyFileSync, lstatSync, utimesSync, type BigIntStats, type PathLike } from 'node:fs'
import process from 'node:process'
import { openSmallCopier } from './copy-small.ts'
import { copySparse } from './tree-files.ts'

/** How files are copied: `reflink` shares blocks with the original, and fails if that is impossible; `copy` writes new blocks. */
export type HowToCopy = 'reflink' | 'copy'

const small = openSmallCopier()

/** Sparse files that are larger than this, in bytes, stay sparse in the copy. The operating system's function for copying would fill their holes. */
const sparseFrom = 1024n * 1024n

/**
 * Copies a regular file with its mode and times.
 *
 * @param stats the metadata of the original
 * @returns the metadata of the copy
 * @throws the system's error
 */
export function copyFile(from: PathLike, to: PathLike, stats: BigIntStats, how: HowToCopy): BigIntStats {
  if (how === 'copy' && small.suits(stats)) return small.copy(from, to, stats)
  const flag = how === 'reflink' ? constants.COPYFILE_FICLONE_FORCE : 0
  const isSparse = how === 'copy' && stats.size > sparseFrom && stats.blocks * 512n < stats.size
  if (isSparse) copySparse(from, to, stats)
  else copyFileSync(from, to, constants.COPYFILE_EXCL | flag)
  // When an ordinary user writes to a file, the kernel removes its set-user-id and set-group-id bits, so the mode is set again.
  if ((stats.mode & 0o6000n) !== 0n && isOurs(stats)) chmodSync(to, Number(stats.mode & 0o7777n))
  return setTimes(to, stats)
}

/** Gives a copy the times of the original. Returns the metadata of the copy after that. @throws the system's error */
export function setTimes(copy: PathLike, { atimeNs, mtimeNs }: BigIntStats): BigIntStats {
  utimesSync(copy, seconds(atimeNs), seconds(mtimeNs))
  return lstatSync(copy, { bigint: true })
}

/** Whether a new file of this process would have the same owner as the original. In current Node, `copyFileSync` preserves other owners if it can. */
function isOurs({ uid, gid }: BigIntStats): boolean {
  return Number(uid) === ownUid && Number(gid) === ownGid
}

const [ownUid, ownGid] = [process.geteuid?.(), process.getegid?.()]

/** Converts nanoseconds to the seconds that `utimes` expects. */
export function seconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e9
}
