import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Piece } from '../../apply-patch/index.ts'
import { UserError } from '../core/user-error.ts'
import { largestPacked, packContent, placeInPack, readPacked } from './packed-contents.ts'

const folder = (directory: string): string => join(directory, 'changes', 'blobs')

const packFile = (directory: string): string => keptFile(directory, 'pack')

/** The path of a file that stores one large content, by its hash. */
function keptFile(directory: string, hash: string): string {
  return join(folder(directory), hash)
}

/** The file and the position of stored bytes, for callers that read them in parts. */
export function keptPiece(directory: string, hash: string, size: number): Piece {
  const place = placeInPack(packFile(directory), hash)
  return place === undefined
    ? { file: keptFile(directory, hash), start: 0, length: size }
    : { file: packFile(directory), ...place }
}

/** How much of a file is in memory at a time. */
const chunkSize = 1024 * 1024

/** Stores bytes. Returns their hash. */
export function keepBytes(directory: string, bytes: Buffer): string {
  const hash = createHash('sha256').update(bytes).digest('hex')
  if (bytes.length <= largestPacked) {
    packContent(packFile(directory), hash, bytes, () => create(directory, 'pack', 'wx+'))
    return hash
  }
  const file = keptFile(directory, hash)
  if (existsSync(file)) return hash
  const descriptor = create(directory, `${hash}.new`)
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
  } finally {
    closeSync(descriptor)
  }
  renameSync(`${file}.new`, file)
  return hash
}

/**
 * Stores the content of a file of any size. Doesn't open symbolic links, and never blocks on a pipe.
 *
 * @returns undefined if the file can't be read
 * @throws the system's error if the content can't be stored
 */
export function keepFile(
  directory: string,
  file: Buffer,
): { readonly hash: string; readonly size: number } | undefined {
  const source = openOrUndefined(file)
  if (source === undefined) return undefined
  try {
    const stats = fstatSync(source)
    if (!stats.isFile()) return undefined
    const buffer = Buffer.allocUnsafe(Math.min(stats.size + 1, chunkSize))
    const first = fill(source, buffer)
    if (first < buffer.length) return { hash: keepBytes(directory, buffer.subarray(0, first)), size: first }
    return keepLarge(directory, source, buffer)
  } finally {
    closeSync(source)
  }
}

/** @param buffer already contains the beginning of the file */
function keepLarge(
  directory: string,
  source: number,
  buffer: Buffer,
): { readonly hash: string; readonly size: number } {
  const name = 'incoming.new'
  const target = create(directory, name)
  const sum = createHash('sha256')
  let [size, got, isHole] = [0, buffer.length, false]
  try {
    for (; got > 0; got = fill(source, buffer)) {
      const chunk = buffer.subarray(0, got)
      sum.update(chunk)
      // Blocks of zeros become holes, so that a sparse file takes no more space here.
      isHole = chunk.equals(zeros.subarray(0, got))
      for (let at = 0; at < got && !isHole;) at += writeSync(target, chunk, at, got - at, size + at)
      size += got
    }
    if (isHole) ftruncateSync(target, size)
  } catch (error) {
    rmSync(keptFile(directory, name), { force: true })
    throw error
  } finally {
    closeSync(target)
  }
  const hash = sum.digest('hex')
  renameSync(keptFile(directory, name), keptFile(directory, hash))
  return { hash, size }
}

const zeros = Buffer.alloc(chunkSize)

function create(directory: string, name: string, flags = 'w'): number {
  const open = (): number => openSync(keptFile(directory, name), flags, 0o600)
  try {
    return open()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    mkdirSync(folder(directory), { recursive: true, mode: 0o700 })
    return open()
  }
}

function openOrUndefined(file: Buffer): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // Removed, or not accessible.
    return undefined
  }
}

/** Reads until the buffer is full or the file ends. */
function fill(descriptor: number, buffer: Buffer): number {
  let length = 0
  while (length < buffer.length) {
    const got = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (got === 0) break
    length += got
  }
  return length
}

/**
 * Reads stored bytes.
 *
 * @throws UserError `failed` if they changed since they were stored
 */
export function keptBytes(directory: string, hash: string): Buffer {
  const place = placeInPack(packFile(directory), hash)
  const file = place === undefined ? keptFile(directory, hash) : packFile(directory)
  const bytes = place === undefined ? readFileSync(file) : readPacked(file, place)
  if (createHash('sha256').update(bytes).digest('hex') === hash) return bytes
  throw damaged(file)
}

/** Verifies stored bytes, with only a part of them in memory at a time. @throws UserError `failed` if they changed since they were stored */
export function checkKept(directory: string, hash: string, size: number): void {
  if (size <= largestPacked) {
    keptBytes(directory, hash)
    return
  }
  const file = keptFile(directory, hash)
  const descriptor = openSync(file, 'r')
  try {
    const [sum, buffer] = [createHash('sha256'), Buffer.allocUnsafe(Math.min(size + 1, chunkSize))]
    for (let got = fill(descriptor, buffer); got > 0; got = fill(descriptor, buffer))
      sum.update(buffer.subarray(0, got))
    if (sum.digest('hex') !== hash) throw damaged(file)
  } finally {
    closeSync(descriptor)
  }
}

function damaged(file: string): UserError {
  return new UserError('failed', `${file} is damaged: its content has changed since it was stored.`)
}
