import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lstatSync,
  openSync,
  readSync,
  utimesSync,
  writeSync,
  type BigIntStats,
  type PathLike,
} from 'node:fs'
import process from 'node:process'
import { copySparse, openToRead } from './tree-files.ts'

/** How files are copied: `reflink` shares blocks with the original, and fails if that is impossible; `copy` writes new blocks. */
export type HowToCopy = 'reflink' | 'copy'

/** Files up to this size, in bytes, are copied through memory, with fewer system calls than `copyFileSync`. Most files of a work tree are smaller. */
const smallTo = 64 * 1024

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
  if (how === 'copy' && stats.size <= smallTo && isOurs(stats)) return copySmall(from, to, stats)
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

function copySmall(from: PathLike, to: PathLike, original: BigIntStats): BigIntStats {
  const content = readBeginning(from, Number(original.size))
  const copy = openSync(to, createNew, Number(original.mode & 0o777n))
  try {
    for (let at = 0; at < content.length;) at += writeSync(copy, content, at)
    futimesSync(copy, seconds(original.atimeNs), seconds(original.mtimeNs))
    const stats = fstatSync(copy, { bigint: true })
    if (stats.mode === original.mode && stats.gid === original.gid) return stats
    // The mode or the group differs because of the umask, a default ACL, the directory's set-group-id bit, or special bits of the original. The owner
    // is set first, because changing it clears bits of the mode.
    fchownSync(copy, Number(original.uid), Number(original.gid))
    fchmodSync(copy, Number(original.mode & 0o7777n))
    return fstatSync(copy, { bigint: true })
  } finally {
    closeSync(copy)
  }
}

/** The flags `wx` as a number. As text, they would be parsed for each file. */
const createNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

let shared: Buffer | undefined

/** Reads the first `size` bytes of a file, or fewer if the file has become shorter. The bytes are valid only until the next call. */
function readBeginning(file: PathLike, size: number): Buffer {
  shared ??= Buffer.allocUnsafe(smallTo)
  const descriptor = openToRead(file)
  try {
    let length = 0
    while (length < size) {
      const got = readSync(descriptor, shared, length, size - length, null)
      if (got === 0) break
      length += got
    }
    return shared.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** Converts nanoseconds to the seconds that `utimes` expects. */
export function seconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e9
}
