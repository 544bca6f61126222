/**
 * Functions that treat white space and punctuation as Codex does, but work on UTF-8 bytes.
 *
 * JavaScript's `trim` can't be used: it strips U+FEFF, doesn't strip U+0085, and works only on a decoded line.
 */

/** Returns where `bytes[start..end)` ends if trailing white space is left out. */
export function trimEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start) {
    const last = bytes[at - 1] ?? 0
    if (isAsciiSpace(last)) at -= 1
    else if (last < 0x80) break
    else if (at - 2 >= start && isSpace2(bytes[at - 2] ?? 0, last)) at -= 2
    else if (at - 3 >= start && isSpace3(bytes[at - 3] ?? 0, bytes[at - 2] ?? 0, last)) at -= 3
    else break
  }
  return at
}

/** Returns where `bytes[start..end)` starts if leading white space is left out. */
export function trimStart(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end) {
    const first = bytes[at] ?? 0
    if (isAsciiSpace(first)) at += 1
    else if (first < 0x80) break
    else if (at + 2 <= end && isSpace2(first, bytes[at + 1] ?? 0)) at += 2
    else if (at + 3 <= end && isSpace3(first, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0)) at += 3
    else break
  }
  return at
}

function isAsciiSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

/** Whether these bytes encode a white-space character: U+0085 or U+00A0. */
function isSpace2(a: number, b: number): boolean {
  return a === 0xc2 && (b === 0x85 || b === 0xa0)
}

/** Whether these bytes encode a white-space character: U+1680, U+2000 to 200A, 2028, 2029, 202F, 205F or 3000. */
function isSpace3(a: number, b: number, c: number): boolean {
  if (a === 0xe2 && b === 0x80) return (c >= 0x80 && c <= 0x8a) || c === 0xa8 || c === 0xa9 || c === 0xaf
  return (
    (a === 0xe1 && b === 0x9a && c === 0x80) ||
    (a === 0xe2 && b === 0x81 && c === 0x9f) ||
    (a === 0xe3 && b === 0x80 && c === 0x80)
  )
}

const DASH = 0x2d
const APOSTROPHE = 0x27
const QUOTE = 0x22
const SPACE = 0x20

/** The ASCII character that replaces a typographic one, which is given by its last two bytes in UTF-8 (the first is E2). 0 if the character isn't replaced. */
function punctuation(b: number, c: number): number {
  if (b === 0x80) {
    if (c >= 0x90 && c <= 0x95) return DASH
    if (c >= 0x98 && c <= 0x9b) return APOSTROPHE
    if (c >= 0x9c && c <= 0x9f) return QUOTE
    // U+2000 and U+2001 are not in Codex's map.
    if ((c >= 0x82 && c <= 0x8a) || c === 0xaf) return SPACE
  }
  if (b === 0x81 && c === 0x9f) return SPACE
  if (b === 0x88 && c === 0x92) return DASH
  return 0
}

/**
 * Writes `bytes[start..end)` to `target` and replaces typographic dashes, quotes and spaces with ASCII.
 *
 * @returns how many bytes were written; never more than were read
 */
export function normalize(bytes: Uint8Array, start: number, end: number, target: Uint8Array): number {
  let to = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0xe2 && at + 2 < end) {
      const sign = punctuation(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0)
      if (sign !== 0) {
        target[to++] = sign
        at += 2
        continue
      }
    } else if (byte === 0xc2 && bytes[at + 1] === 0xa0 && at + 1 < end) {
      target[to++] = SPACE
      at += 1
      continue
    } else if (byte === 0xe3 && bytes[at + 1] === 0x80 && bytes[at + 2] === 0x80 && at + 2 < end) {
      target[to++] = SPACE
      at += 2
      continue
    }
    target[to++] = byte
  }
  return to
}
