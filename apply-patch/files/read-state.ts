import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readlinkSync, type BigIntStats } from 'node:fs'
import type { FileState } from '../change-set.ts'
import { crc32 } from './crc32.ts'
import { errnoOf } from './commit-error.ts'
import { readTarget } from './link-target.ts'

/** Flags for opening a file to read it without following a link, waiting for the other end of a pipe, or acquiring a controlling terminal. */
export const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** The most bytes of a file whose content a patch changes: all of it is in memory. Codex has the same limit. */
const mostBytes = 512 * 1024 * 1024

/**
 * The state of a path, with the whole content in memory, except if the file is too large for a patch. Throws the system's error if an entry exists but can't be read.
 *
 * @param path the path to open; it may lead through a descriptor in `/proc/self/fd`
 * @param expected the real path that the opened file must have. If it has a different one, because it was moved or a
 * link led elsewhere, an error is thrown
 */
export function readState(path: string, expected?: string): FileState {
  return openState(path, expected, (descriptor, stats) => {
    if (stats.size > mostBytes) return readThrough(descriptor, stats, () => undefined)
    return { type: 'file', bytes: readAll(descriptor, Number(stats.size)), ...factsOf(stats) }
  })
}

/** The most bytes of a configuration file that are read. */
const smallSize = 1024 * 1024

/** The content of a configuration file; undefined if it is missing, is larger than a megabyte, can't be read, or isn't a file. */
export function readSmallFile(path: string): Buffer | undefined {
  try {
    if ((lstatSync(path, { throwIfNoEntry: false })?.size ?? Infinity) > smallSize) return undefined
    const state = readState(path)
    return state.type === 'file' ? state.bytes : undefined
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}

function openState(
  path: string,
  expected: string | undefined,
  read: (descriptor: number, stats: BigIntStats) => FileState,
): FileState {
  let descriptor: number
  try {
    descriptor = openSync(path, readFlags)
  } catch (error) {
    return stateWithoutOpening(path, error)
  }
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    if (stats.isDirectory()) return { type: 'directory' }
    if (!stats.isFile()) return { type: 'other' }
    if (expected !== undefined && readlinkSync(`/proc/self/fd/${descriptor}`) !== expected) {
      throw Object.assign(new Error(`${expected} was moved while it was read`), { code: 'EAGAIN', syscall: 'open' })
    }
    return read(descriptor, stats)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The state of a path. The bytes of the file are left out, because they may not fit into memory.
 *
 * @param see receives all bytes in chunks, each with its position; a chunk is valid until `see` returns
 */
export function lookThrough(
  path: string,
  expected: string | undefined,
  see: (chunk: Uint8Array, at: number) => void,
): FileState {
  return openState(path, expected, (descriptor, stats) => readThrough(descriptor, stats, see))
}

function readThrough(descriptor: number, stats: BigIntStats, see: (chunk: Uint8Array, at: number) => void): FileState {
  const buffer = Buffer.allocUnsafe(Math.min(chunkSize, Number(stats.size) + 1))
  let [size, crc] = [0, 0]
  for (;;) {
    const got = readSync(descriptor, buffer, 0, buffer.length, null)
    if (got === 0) break
    const chunk = buffer.subarray(0, got)
    crc = crc32(chunk, crc)
    see(chunk, size)
    size += got
    if (got < buffer.length && size >= stats.size) break
  }
  return { type: 'unread', size, crc, ...factsOf(stats) }
}

const chunkSize = 1024 * 1024

/** The checksum of a regular file's bytes; undefined if the file doesn't have exactly `size` bytes, or isn't a regular file. */
export function crcOf(path: string, size: number): number | undefined {
  const now = lookThrough(path, undefined, () => undefined)
  return now.type === 'unread' && now.size === size ? now.crc : undefined
}

/** How many bytes a file has. */
export function sizeOf(state: Extract<FileState, { type: 'file' | 'unread' }>): number {
  return state.type === 'file' ? state.bytes.length : state.size
}

/** The facts about a regular file besides its bytes. */
function factsOf(stats: BigIntStats) {
  return {
    mode: Number(stats.mode & 0o7777n),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    device: stats.dev,
    inode: stats.ino,
    modifiedNs: stats.mtimeNs,
    changedNs: stats.ctimeNs,
    links: Number(stats.nlink),
    settled: isSettled(stats.ctimeNs),
  }
}

/**
 * Whether the last change is so old that any later write must result in a different change time. The clocks of file systems advance in steps: on Linux every 1
 * to 10 ms, on FAT every 2 s (a change time without a fraction of a second may come from FAT).
 */
function isSettled(changedNs: bigint): boolean {
  const tickMs = changedNs % 1_000_000_000n === 0n ? 3000 : 100
  return Date.now() - Number(changedNs / 1_000_000n) > tickMs
}

/** The state of an entry that can't be opened, such as a link, a socket or a missing file. For a regular file, throws `error`. */
function stateWithoutOpening(path: string, error: unknown): FileState {
  const errno = errnoOf(error)
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return { type: 'absent' }
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return { type: 'absent' }
  if (stats.isSymbolicLink()) {
    return { type: 'symlink', target: readTarget(path), device: stats.dev, inode: stats.ino }
  }
  if (stats.isDirectory()) return { type: 'directory' }
  if (!stats.isFile()) return { type: 'other' }
  throw error
}

/** All bytes of a file. The file may grow or shrink meanwhile; the commit's own check detects that. */
function readAll(descriptor: number, size: number): Buffer {
  // The buffer has room for one byte more than expected, so that a second read isn't needed to detect the end.
  let buffer = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (;;) {
    const got = readSync(descriptor, buffer, length, buffer.length - length, null)
    length += got
    if (got === 0 || (length < buffer.length && length >= size)) return buffer.subarray(0, length)
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2)
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
  }
}
