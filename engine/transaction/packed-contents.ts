import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * The maximum size, in bytes, of content that shares a file with other content. Creating many small files would take longer than the rest of a
 * landing.
 */
export const largestPacked = 64 * 1024

/** The position of stored bytes in a pack. */
type Place = { readonly start: number; readonly length: number }

/** What this process knows about the contents of a pack from its last read or write. */
type Known = {
  readonly file: string
  readonly inode: bigint
  readonly places: Map<string, Place>
  /** The position at which the next record is written. Bytes after it were left by a crash, or written by another process. */
  end: number
}

/** What this process knows about the pack that was used last. Data about other packs is not kept in memory. */
let last: Known | undefined

/**
 * Adds bytes to a pack unless it contains them already. A record is one line with the content's hash and length, followed by the bytes. A record that a crash
 * cut off is overwritten.
 *
 * @param create creates the file if it doesn't exist, and returns a descriptor that is open for reading and writing
 * @throws the system's error if the pack can't be written
 */
export function packContent(file: string, hash: string, bytes: Buffer, create: () => number): void {
  const descriptor = openOrUndefined(file, constants.O_RDWR) ?? create()
  try {
    const known = look(file, descriptor)
    if (known.places.has(hash)) return
    const line = headerOf(hash, bytes.length)
    if (Number(fstatSync(descriptor).size) > known.end) ftruncateSync(descriptor, known.end)
    const record = Buffer.concat([line, bytes])
    for (let at = 0; at < record.length;) {
      at += writeSync(descriptor, record, at, record.length - at, known.end + at)
    }
    known.places.set(hash, { start: known.end + line.length, length: bytes.length })
    known.end += record.length
  } finally {
    closeSync(descriptor)
  }
}

/** The position of the content with this hash; undefined if the pack doesn't contain it. @throws the system's error if the pack can't be read */
export function placeInPack(file: string, hash: string): Place | undefined {
  return withPlace(file, hash, (place) => place)
}

/**
 * Reads the content with this hash from a pack. Returns fewer bytes if the file has been truncated.
 *
 * @returns undefined if the pack doesn't exist, or doesn't contain the content
 * @throws the system's error if the pack can't be read
 */
export function readPacked(file: string, hash: string): Buffer | undefined {
  return withPlace(file, hash, ({ start, length }, descriptor) => {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, readAt(descriptor, bytes, start))
  })
}

function withPlace<Result>(
  file: string,
  hash: string,
  use: (place: Place, descriptor: number) => Result,
): Result | undefined {
  const descriptor = openOrUndefined(file, constants.O_RDONLY)
  if (descriptor === undefined) return undefined
  try {
    const place = look(file, descriptor).places.get(hash)
    return place === undefined ? undefined : use(place, descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function look(file: string, descriptor: number): Known {
  const { ino, size } = fstatSync(descriptor, { bigint: true })
  const isKnown = last?.file === file && last.inode === ino && BigInt(last.end) <= size
  if (!isKnown || last === undefined) last = { file, inode: ino, places: new Map(), end: 0 }
  if (BigInt(last.end) < size) readOn(last, descriptor, Number(size))
  return last
}

/** The header line of a record. Its length is fixed, so the position of the content also determines the position of the header. */
const headerOf = (hash: string, length: number): Buffer =>
  Buffer.from(`${hash} ${String(length).padStart(digits)}\n`, 'latin1')
const digits = 5
const headerLength = 64 + 1 + digits + 1

function readOn(known: Known, descriptor: number, size: number): void {
  const header = Buffer.alloc(headerLength)
  for (;;) {
    if (readAt(descriptor, header, known.end) < headerLength) return
    const [, hash, length] = /^([0-9a-f]{64}) ([ \d]{5})\n$/.exec(header.toString('latin1')) ?? []
    if (hash === undefined) return
    const place = { start: known.end + headerLength, length: Number(length) }
    if (place.start + place.length > size) return
    known.places.set(hash, place)
    known.end = place.start + place.length
  }
}

function readAt(descriptor: number, buffer: Buffer, from: number): number {
  let got = 0
  while (got < buffer.length) {
    const more = readSync(descriptor, buffer, got, buffer.length - got, from + got)
    if (more === 0) break
    got += more
  }
  return got
}

function openOrUndefined(file: string, flags: number): number | undefined {
  try {
    return openSync(file, flags)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
