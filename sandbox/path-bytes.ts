/**
 * Converts the name of a file to text. Bytes that aren't UTF-8 become lone surrogates (U+DC80 to U+DCFF), as in Python (PEP 383), so that different
 * names have different texts.
 *
 * @param latin1 the name with one character for each byte, as Node returns it for the encoding `latin1`
 */
export function decodeName(latin1: string): string {
  if (!/[\u0080-\u00ff]/.test(latin1)) return latin1
  const bytes = Buffer.from(latin1, 'latin1')
  const text = bytes.toString('utf8')
  if (Buffer.from(text, 'utf8').equals(bytes)) return text
  let name = ''
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at)
    name += length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length)
    at += Math.max(length, 1)
  }
  return name
}

/** A path in the form that system calls need: the text itself, or bytes if the path isn't UTF-8. */
export function encodePath(path: string): string | Buffer {
  return hasRawBytes(path) ? pathBytes(path) : path
}

/** The bytes of a path. */
export function pathBytes(path: string): Buffer {
  if (!hasRawBytes(path)) return Buffer.from(path, 'utf8')
  return Buffer.concat(
    path
      .split(/([\udc80-\udcff])/u)
      .map((part) =>
        hasRawBytes(part) && part.length === 1 ? Buffer.of(part.charCodeAt(0) - 0xdc00) : Buffer.from(part, 'utf8'),
      ),
  )
}

/** Whether a path contains bytes that aren't UTF-8. */
export function hasRawBytes(path: string): boolean {
  // `isWellFormed` is called first, because for most texts V8 can answer it without a search. The `u` flag keeps the halves of a surrogate pair from
  // matching.
  return !path.isWellFormed() && /[\udc80-\udcff]/u.test(path)
}

/** The length in bytes of the UTF-8 character that begins at the offset `at`; 0 if the bytes aren't valid UTF-8. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  const part = bytes.subarray(at, at + length)
  return length > 0 && part.length === length && Buffer.from(part.toString('utf8'), 'utf8').equals(part) ? length : 0
}
