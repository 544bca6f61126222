import { isAscii, isUtf8 } from 'node:buffer'
import { chooseEncoding, chooseForNew, findFalseClaim, type EncodingFault } from '../encoding/choose-encoding.ts'
import { declaringPart, type Declaration } from '../encoding/declared-in-text.ts'
import { encodeText, type Encoding } from '../encoding/encoding.ts'
import type { Content } from '../change-set.ts'
import { bodyLines } from '../match/prepare-chunks.ts'
import type { Chunk, UpdateFile } from '../patch.ts'
import { updateLines } from './update-lines.ts'

type Context = Parameters<typeof updateLines>[2] & {
  /** What the repository's configuration declares about the encoding of the file. */
  readonly declared: () => readonly Declaration[]
}

/** The new content of a file, or why its text can't be written. `content` is undefined if nothing changes, or if a failure has been noted. */
type Updated =
  { readonly content: Content | undefined } | { readonly fault: EncodingFault & { readonly patchLine: number } }

/**
 * The content of a file after the chunks of an update have been applied, in the encoding of the file. A file that isn't UTF-8 is decoded, changed and encoded
 * again; the bytes of lines that don't change are taken from the file itself.
 */
export function updateFile(bytes: Buffer, operation: UpdateFile, context: Context): Updated {
  const patchLine = firstForeignLine(operation.chunks)
  // Most patches and files are plain: an ASCII line can be added to a file that is UTF-8 without knowing more.
  const isKnown = patchLine === undefined && isPlain(bytes)
  if (isAscii(bytes) && isPlain(bytes))
    return isKnown ? { content: updateLines(bytes, operation, context) } : updateAscii(bytes, operation, context)
  const updated = isKnown
    ? { content: updateLines(bytes, operation, context) }
    : updateForeign(bytes, operation, context, patchLine)
  if ('fault' in updated || updated.content === undefined) return updated
  const claim = findFalseClaim(bytes, declaringPart(updated.content), operation.path, context.declared)
  if (claim !== undefined) {
    const { path, line } = operation
    const message = `${path}: the patch changes what the file says about its encoding: ${claim}`
    context.warnings.add({ code: 'encoding-doubtful', message, path, patchLine: line })
  }
  return updated
}

/** Adds text that isn't ASCII to a file that is. Its encoding is the one that the file declares after the change. */
function updateAscii(bytes: Buffer, operation: UpdateFile, context: Context): Updated {
  const content = updateLines(bytes, operation, context)
  if (content === undefined) return { content }
  const choice = chooseEncoding(bytes, operation.path, context.declared, declaringPart(content))
  if (choice.type === 'as-is') return { content }
  if (choice.type === 'encoded') return encodeContent(bytes, bytes, content, operation, choice)
  return { fault: { ...choice.fault, patchLine: firstForeignLine(operation.chunks) ?? operation.line } }
}

function updateForeign(bytes: Buffer, operation: UpdateFile, context: Context, patchLine: number | undefined): Updated {
  const choice = chooseEncoding(bytes, operation.path, context.declared)
  switch (choice.type) {
    case 'as-is': {
      if (choice.doubt !== undefined && patchLine !== undefined) {
        const { path } = operation
        const message = `${path}: text that is not ASCII was added as UTF-8, although ${choice.doubt}`
        context.warnings.add({ code: 'encoding-doubtful', message, path, patchLine })
      }
      return { content: updateLines(bytes, operation, context) }
    }
    case 'encoded':
      return updateDecoded(bytes, operation, context, choice)
    case 'ascii-only':
      if (patchLine !== undefined) return { fault: { ...choice.fault, patchLine } }
      return { content: updateLines(bytes, operation, context) }
    case 'fault': {
      const content = updateLines(bytes, operation, context)
      return content === undefined
        ? { content }
        : { fault: { ...choice.fault, patchLine: patchLine ?? operation.line } }
    }
    default:
      return choice satisfies never
  }
}

/** The bytes of a new file: its text in the encoding that is declared for it. */
export function encodeNew(text: Buffer, path: string, declared: () => readonly Declaration[]): Buffer | EncodingFault {
  const choice = chooseForNew(text, path, declared)
  if (choice.type === 'as-is') return text
  if (choice.type !== 'encoded') return choice.fault
  const characters = text.toString()
  // A byte-order mark tells readers which of the two it is. Git's names with LE and BE say that there is none.
  const needsMark = choice.encoding.unit === 2 && !/git/.test(choice.by) && !characters.startsWith('\ufeff')
  const encoded = encodeText(needsMark ? `\ufeff${characters}` : characters, choice.encoding)
  return 'missing' in encoded ? lacks(encoded.missing, choice) : encoded
}

/** Whether a file is UTF-8 for certain: UTF-16 has a byte-order mark, which isn't UTF-8, or zero bytes. */
function isPlain(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

/** The patch line of the first added line that isn't ASCII. */
function firstForeignLine(chunks: readonly Chunk[]): number | undefined {
  for (const { body, bodyLine } of chunks) {
    if (!body.some((byte) => byte >= 0x80)) continue
    const index = bodyLines(body).findIndex(
      ({ mark, start, end }) => mark === 'added' && body.subarray(start, end).some((byte) => byte >= 0x80),
    )
    if (index !== -1) return bodyLine + index
  }
  return undefined
}

type Encoded = { readonly encoding: Encoding; readonly by: string }

function updateDecoded(bytes: Buffer, operation: UpdateFile, context: Context, choice: Encoded): Updated {
  const text = choice.encoding.decode(bytes)
  if (text === undefined) throw new TypeError('the encoding was chosen because it can decode the file')
  const decoded = Buffer.from(text)
  const content = updateLines(decoded, operation, context)
  return content === undefined ? { content } : encodeContent(bytes, decoded, content, operation, choice)
}

/** @param decoded the file's text, of which the content consists besides the added lines */
function encodeContent(
  bytes: Buffer,
  decoded: Buffer,
  content: Content,
  operation: UpdateFile,
  choice: Encoded,
): Updated {
  const original = new Places(bytes, decoded, choice.encoding)
  const pieces: Uint8Array[] = []
  for (const piece of content) {
    const start = piece.byteOffset - decoded.byteOffset
    if (piece.buffer === decoded.buffer && start >= 0 && start + piece.length <= decoded.length) {
      pieces.push(bytes.subarray(original.of(start), original.of(start + piece.length)))
      continue
    }
    const encoded = encodeText(Buffer.from(piece).toString(), choice.encoding)
    if ('missing' in encoded)
      return { fault: { ...lacks(encoded.missing, choice), patchLine: lineWith(encoded.missing, operation) } }
    pieces.push(encoded)
  }
  if (choice.encoding.decode(Buffer.concat(pieces)) !== Buffer.concat(content).toString()) {
    const detail = `${choice.encoding.name}, by ${choice.by}: what would be written can't be read back`
    return { fault: { reason: 'encoding-unsupported', detail, patchLine: operation.line } }
  }
  return { content: pieces }
}

function lacks(character: string, { encoding, by }: Encoded): EncodingFault {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return { reason: 'encoding-lacks', detail: `"${character}" (U+${code}) is not in ${encoding.name}, which ${by} says` }
}

function lineWith(character: string, { chunks, line }: UpdateFile): number {
  for (const { body, bodyLine } of chunks) {
    const lines = Buffer.from(body).toString().split('\n')
    const index = lines.findIndex((one) => one.startsWith('+') && one.includes(character))
    if (index !== -1) return bodyLine + index
  }
  return line
}

/** Finds the places in a file that belong to places in its decoded text. All are next to a line end, or at the beginning or the end. */
class Places {
  readonly #bytes: Buffer
  readonly #decoded: Buffer
  readonly #unit: 1 | 2
  readonly #isBig: boolean
  #decodedAt = 0
  #bytesAt = 0

  constructor(bytes: Buffer, decoded: Buffer, { unit, name }: Encoding) {
    this.#bytes = bytes
    this.#decoded = decoded
    this.#unit = unit
    this.#isBig = name === 'utf-16be'
  }

  /** The place in the file for a place in the text. Places must be asked for in ascending order. */
  of(place: number): number {
    if (place === this.#decoded.length) return this.#bytes.length
    const ends = countEnds(this.#decoded, this.#decodedAt, place)
    for (let count = 0; count < ends; count++) this.#bytesAt = this.#nextEnd(this.#bytesAt) + this.#unit
    this.#decodedAt = place
    const before = this.#decoded[place - 1]
    if (place === 0 || before === 10 || before === 13) return this.#bytesAt
    // The mark is not followed by a line end, but it is at the beginning.
    if (place === 3 && this.#bytesAt === 0 && this.#decoded.toString('utf8', 0, 3) === '\ufeff')
      return this.#unit === 2 ? 2 : this.#bytesAt
    return this.#nextEnd(this.#bytesAt)
  }

  #nextEnd(from: number): number {
    for (let at = from; at < this.#bytes.length; at += this.#unit) {
      const byte = this.#bytes[at + (this.#isBig ? 1 : 0)]
      const isWide = this.#unit === 2 && this.#bytes[at + (this.#isBig ? 0 : 1)] !== 0
      if ((byte === 10 || byte === 13) && !isWide) return at
    }
    return this.#bytes.length
  }
}

function countEnds(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (bytes[at] === 10 || bytes[at] === 13) count++
  return count
}
