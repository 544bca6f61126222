import { isUtf8 } from 'node:buffer'

// Names, paths and the contents of git's files are bytes, usually but not always UTF-8. All code of the sandbox represents them as text in the same
// way: bytes that aren't UTF-8 are lone surrogates (U+DC80 to U+DCFF), as in Python (PEP 383). So different bytes have different texts, texts can be
// joined and compared, and `encodeText` converts each text back to exactly its bytes. Node itself would turn a lone surrogate into U+FFFD.

/**
 * Converts bytes to text. Bytes that aren't UTF-8 become lone surrogates.
 *
 * @internal
 */
export function decodeText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : decodeRaw(bytes)
}

/**
 * Converts a text that `decodeText` has returned, or that was made from such texts, to bytes.
 *
 * @internal
 */
export function encodeText(text: string): Buffer {
  return hasRawBytes(text) ? encodeRaw(text) : Buffer.from(text, 'utf8')
}

/**
 * Does the same as `decodeText` for the name of a file.
 *
 * @param latin1 the name with one character for each byte, as Node returns it for the encoding `latin1`, which is faster than bytes
 * @internal
 */
export function decodeName(latin1: string): string {
  return /[\u0080-\u00ff]/.test(latin1) ? decodeText(Buffer.from(latin1, 'latin1')) : latin1
}

/**
 * A path in the form that system calls need: the text itself, or bytes if the path isn't UTF-8.
 *
 * @internal
 */
export function encodePath(path: string): string | Buffer {
  return hasRawBytes(path) ? encodeRaw(path) : path
}

/** Whether a text contains bytes that aren't UTF-8. */
export function hasRawBytes(text: string): boolean {
  // `isWellFormed` is called first, because for most texts V8 can answer it without a search. The `u` flag keeps the halves of a surrogate pair from
  // matching.
  return !text.isWellFormed() && /[\udc80-\udcff]/u.test(text)
}

/** Compares two texts by their bytes, as git sorts names. Only surrogates have a different order in UTF-16. */
export function compareBytes(a: string, b: string): number {
  const plain = /^[^\ud800-\udfff]*$/
  if (!plain.test(a) || !plain.test(b)) return Buffer.compare(encodeText(a), encodeText(b))
  return a < b ? -1 : a > b ? 1 : 0
}

function decodeRaw(bytes: Buffer): string {
  // No character has more code units in UTF-16 than bytes.
  const units = new Uint16Array(bytes.length)
  let count = 0
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at)
    const first = bytes[at] ?? 0
    if (length === 0) units[count++] = 0xdc00 + first
    else {
      let point = length === 1 ? first : first & (0x7f >> length)
      for (let next = 1; next < length; next += 1) point = (point << 6) | ((bytes[at + next] ?? 0) & 0x3f)
      if (point > 0xffff) units[count++] = 0xd7c0 + (point >> 10)
      units[count++] = point > 0xffff ? 0xdc00 + (point & 0x3ff) : point
    }
    at += Math.max(length, 1)
  }
  return Buffer.from(units.buffer, 0, count * 2).toString('utf16le')
}

function encodeRaw(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length * 3)
  let [count, from] = [0, 0]
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at) ?? 0
    if (point >= 0xdc80 && point <= 0xdcff) {
      count += bytes.write(text.slice(from, at), count, 'utf8')
      bytes[count++] = point - 0xdc00
      from = at + 1
    }
    at += point > 0xffff ? 2 : 1
  }
  count += bytes.write(text.slice(from), count, 'utf8')
  return bytes.subarray(0, count)
}

/** The length in bytes of the UTF-8 character that begins at the offset `at`; 0 if the bytes aren't valid UTF-8 (RFC 3629, section 4). */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  for (let next = 1; next < length; next += 1) {
    const byte = bytes[at + next] ?? 0
    if (byte < (next === 1 ? lowest : 0x80) || byte > (next === 1 ? highest : 0xbf)) return 0
  }
  return length
}
