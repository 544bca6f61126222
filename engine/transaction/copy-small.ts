import type { BigIntStats, PathLike } from 'node:fs'

/** Copies small files. */
type SmallCopier = {
  /** Whether this copier can copy a regular file with this metadata. */
  readonly suits: (stats: BigIntStats) => boolean
  /**
   * Copies a file with its mode and times. Returns the metadata of the copy.
   *
   * @throws the system's error, after removing the incomplete copy
   */
  readonly copy: (from: PathLike, to: PathLike, original: BigIntStats) => BigIntStats
}

/** The data that the second thread works with. */
export type SharedCopying = {
  readonly from: string
  readonly to: string
  /** The keys of the files to copy, with zero bytes between them. */
  readonly keys: string
  /** How many files both threads have claimed, and how many of them the second thread has finished. */
  readonly progress: Int32Array
  /** A row for each file. A row of zeros: the second thread did not copy this file. */
  readonly rows: BigInt64Array
}

/** The number of fields in a row: mode, size, inode, and times of modification and change, first of the original and then of the copy; the copy's device. */
export const rowFields = 11

/**
 * Returns the program of the second thread. The program is passed to Node as text, because it then needs no file of its own, neither among the sources nor in
 * the built programs. The text consists of functions in this file, so they must not use anything else, such as imports or constants of this file.
 */
export function copyingProgram(): string {
  // The function's own `name` is used for the call, because a bundler may have renamed the function.
  return [openSmallCopier, copyFromTheEnd].map(String).concat(`${copyFromTheEnd.name}()`).join('\n')
}

/**
 * Copies files, beginning with the last, until all are claimed. What isn't a small file with one name, or can't be copied, is left to the other thread, which
 * also reports errors.
 */
function copyFromTheEnd(): void {
  const { lstatSync } = process.getBuiltinModule('node:fs')
  const { workerData } = process.getBuiltinModule('node:worker_threads')
  const { from, to, keys, progress, rows } = workerData as SharedCopying
  const { suits, copy } = openSmallCopier()
  const files = keys.split('\0')
  const fields = rows.length / files.length
  const placeOf = (root: string, key: string): string | Buffer =>
    /^[\x20-\x7e]*$/.test(key) ? `${root}/${key}` : Buffer.concat([Buffer.from(`${root}/`), Buffer.from(key, 'latin1')])
  for (let at = files.length - 1; Atomics.add(progress, 0, 1) < files.length; at--) {
    try {
      const [source, target] = [placeOf(from, files[at] ?? ''), placeOf(to, files[at] ?? '')]
      const stats = lstatSync(source, { bigint: true, throwIfNoEntry: false })
      if (stats?.isFile() === true && stats.nlink === 1n && suits(stats)) {
        const { mode, size, ino, mtimeNs, ctimeNs, dev } = copy(source, target, stats)
        const row = [stats.mode, stats.size, stats.ino, stats.mtimeNs, stats.ctimeNs]
        rows.set([...row, mode, size, ino, mtimeNs, ctimeNs, dev], at * fields)
      }
    } catch {
      // The row stays empty.
    }
    Atomics.add(progress, 1, 1)
  }
}

/** Opens a copier for files of up to 64 KiB, which are most files of a work tree. It copies them through memory, with fewer system calls than `copyFileSync`. */
export function openSmallCopier(): SmallCopier {
  const fs = process.getBuiltinModule('node:fs')
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_EXCL } = fs.constants
  const [ownUid, ownGid] = [process.geteuid?.(), process.getegid?.()]
  const largest = 64 * 1024
  // Flags are numbers, because flags as text would be parsed for each file.
  const [toRead, createNew] = [O_RDONLY | O_NOFOLLOW | O_NONBLOCK, O_WRONLY | O_CREAT | O_EXCL]
  let buffer: Buffer | undefined
  /** Reads the first bytes of a file into the buffer. Returns how many there are, which are fewer than `size` if the file has become shorter. */
  const read = (file: PathLike, into: Buffer, size: number): number => {
    const descriptor = fs.openSync(file, toRead)
    try {
      let length = 0
      while (length < size) {
        const got = fs.readSync(descriptor, into, length, size - length, null)
        if (got === 0) break
        length += got
      }
      return length
    } finally {
      fs.closeSync(descriptor)
    }
  }
  return {
    // A new file of this process must have the same owner as the original.
    suits: ({ size, uid, gid }) => size <= largest && Number(uid) === ownUid && Number(gid) === ownGid,
    copy: (from, to, original) => {
      buffer ??= Buffer.allocUnsafe(largest)
      const length = read(from, buffer, Number(original.size))
      const copy = fs.openSync(to, createNew, Number(original.mode) & 0o777)
      try {
        for (let at = 0; at < length;) at += fs.writeSync(copy, buffer, at, length - at)
        fs.futimesSync(copy, Number(original.atimeNs) / 1e9, Number(original.mtimeNs) / 1e9)
        const stats = fs.fstatSync(copy, { bigint: true })
        if (stats.mode === original.mode && stats.gid === original.gid) return stats
        // The mode or the group differs because of the umask, a default ACL, the directory's set-group-id bit, or special bits of the original. The owner
        // is set first, because changing it clears bits of the mode.
        fs.fchownSync(copy, Number(original.uid), Number(original.gid))
        fs.fchmodSync(copy, Number(original.mode) & 0o7777)
        return fs.fstatSync(copy, { bigint: true })
      } catch (error) {
        fs.unlinkSync(to)
        throw error
      } finally {
        fs.closeSync(copy)
      }
    },
  }
}
