import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { writeChunks, type Piece } from '../../apply-patch/index.ts'
import { UserError } from '../core/user-error.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { largestPacked, packContent, placeInPack, readPacked } from './packed-contents.ts'
import { bufferFor, chunksOf, fill, hashOfDescriptor, openToRead } from './tree-files.ts'

const folder = (directory: string): string => join(directory, 'changes', 'blobs')

const packFile = (directory: string): string => keptFile(directory, 'pack')

/** The path of a file with stored content: the pack or, for content that is too large for the pack, a file that is named after the content's hash. */
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

/** Stores bytes. Returns their hash. */
export function keepBytes(directory: LockedFolder, bytes: Buffer): string {
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
 * @returns undefined if there is no regular file at the path, or it can't be opened
 * @throws the system's error if the content can't be read or stored
 */
export function keepFile(
  directory: LockedFolder,
  file: Buffer,
): { readonly hash: string; readonly size: number } | undefined {
  const source = openOrUndefined(file)
  if (source === undefined) return undefined
  try {
    const stats = fstatSync(source)
    if (!stats.isFile()) return undefined
    const buffer = bufferFor(stats.size)
    const first = fill(source, buffer)
    if (first < buffer.length) return { hash: keepBytes(directory, buffer.subarray(0, first)), size: first }
    return keepLarge(directory, source, buffer)
  } finally {
    closeSync(source)
  }
}

/**
 * Stores the content of a large file, which is read in parts.
 *
 * @param buffer a buffer that already contains the beginning of the file
 */
function keepLarge(
  directory: LockedFolder,
  source: number,
  buffer: Buffer,
): { readonly hash: string; readonly size: number } {
  const name = 'incoming.new'
  const target = create(directory, name)
  const sum = createHash('sha256')
  let size: number
  try {
    size = writeChunks(target, summed(chunksOf(source, buffer, buffer.length), sum))
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

function* summed(chunks: Iterable<Buffer>, sum: Hash): Iterable<Buffer> {
  for (const chunk of chunks) {
    sum.update(chunk)
    yield chunk
  }
}

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
    return openToRead(file)
  } catch {
    // The file has been removed, or isn't accessible.
    return undefined
  }
}

/**
 * Reads stored bytes.
 *
 * @throws UserError `failed` if they have changed since they were stored; the system's error if they can't be read
 */
export function keptBytes(directory: string, hash: string): Buffer {
  const packed = readPacked(packFile(directory), hash)
  const bytes = packed ?? readFileSync(keptFile(directory, hash))
  if (createHash('sha256').update(bytes).digest('hex') === hash) return bytes
  throw damaged(packed === undefined ? keptFile(directory, hash) : packFile(directory))
}

/** Verifies stored bytes, with only a part of them in memory at a time. @throws UserError `failed` if they have changed since they were stored */
export function checkKept(directory: string, hash: string, size: number): void {
  if (size <= largestPacked) {
    keptBytes(directory, hash)
    return
  }
  const file = keptFile(directory, hash)
  const descriptor = openSync(file, 'r')
  try {
    if (hashOfDescriptor(descriptor, size) !== hash) throw damaged(file)
  } finally {
    closeSync(descriptor)
  }
}

function damaged(file: string): UserError {
  return new UserError('failed', `${file} is damaged: its content has changed since it was stored.`)
}
