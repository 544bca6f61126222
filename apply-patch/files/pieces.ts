import { closeSync, openSync, readSync } from 'node:fs'
import type { Change, Piece } from '../change-set.ts'
import { crc32 } from './crc32.ts'
import { readFlags } from './read-state.ts'

/** How many bytes of a file are in memory at a time. */
const chunkSize = 1024 * 1024

/** An error, in the form of a system error, for a file that has changed since it was first read. */
class ChangedFile extends Error {
  readonly code = 'EIO'
  readonly syscall = 'read'

  constructor(path: string) {
    super(`EIO: ${path} was changed while it was read`)
  }
}

/**
 * The bytes of pieces, one after another. Only one chunk is in memory at a time. Each chunk is valid until the next one is requested.
 *
 * @throws the system's error for a file that can't be read, or has become too short (EIO)
 */
export function* chunksOf(pieces: readonly Piece[]): Iterable<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) yield piece
    else if (piece.length > 0) yield* chunksOfFile(piece)
  }
}

function* chunksOfFile({ file, start, length }: Exclude<Piece, Uint8Array>): Iterable<Uint8Array> {
  const descriptor = openSync(file, readFlags)
  try {
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, length))
    for (let at = 0; at < length; at += buffer.length) {
      const wanted = Math.min(buffer.length, length - at)
      for (let got = 0; got < wanted;) {
        const more = readSync(descriptor, buffer, got, wanted - got, start + at + got)
        if (more === 0) throw new ChangedFile(file)
        got += more
      }
      yield buffer.subarray(0, wanted)
    }
  } finally {
    closeSync(descriptor)
  }
}

/** The new content of a change, as pieces. */
export function piecesOf({ content, pieces = content }: Extract<Change, { type: 'write' }>): readonly Piece[] {
  return pieces
}

/**
 * Reads pieces for the second time, chunk by chunk, and checks that they are the same as the first time.
 *
 * @param crc their CRC-32 from the first reading
 * @param path the path of the file, for the error
 * @throws EIO after the last chunk if the CRC-32 differs
 */
export function* sameChunks(pieces: readonly Piece[], crc: number, path: string): Iterable<Uint8Array> {
  let now = 0
  for (const chunk of chunksOf(pieces)) {
    now = crc32(chunk, now)
    yield chunk
  }
  if (now !== crc) throw new ChangedFile(path)
}

/** The CRC-32 of pieces; undefined if a file is too short for them. */
export function crcOfPieces(pieces: readonly Piece[]): number | undefined {
  try {
    let crc = 0
    for (const chunk of chunksOf(pieces)) crc = crc32(chunk, crc)
    return crc
  } catch (error) {
    if (error instanceof ChangedFile) return undefined
    throw error
  }
}
