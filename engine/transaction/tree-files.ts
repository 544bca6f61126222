import { closeSync, constants, lstatSync, openSync, type BigIntStats } from 'node:fs'
import { readRegular } from '../../sandbox/index.ts'

/** The largest file that is landed. */
export const largestFile = 1024 * 1024 * 1024

/** What the system says of a file of a tree; undefined where there is none. */
export function statsOf(file: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false })
  } catch {
    // Its parent is no longer a directory.
    return undefined
  }
}

/** The bytes of a file of a tree, through no symlink in the last place, and waiting on no pipe; undefined where it can't be read. */
export function readFile(file: Buffer): Buffer | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    return readRegular(descriptor, largestFile)
  } catch {
    // Gone, or closed to us.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
