import { isUtf8 } from 'node:buffer'
import { readlinkSync, symlinkSync } from 'node:fs'

/**
 * Reads the target of a symlink as text, so that different targets have different texts. In a target that isn't UTF-8, each byte above 127 becomes a
 * lone surrogate (U+DC80 to U+DCFF). A journal can store such a text too, because JSON escapes lone surrogates.
 */
export function readTarget(path: string): string {
  const bytes = readlinkSync(path, 'buffer')
  if (isUtf8(bytes)) return bytes.toString()
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)))
}

/** Creates a symlink with a target that `readTarget` returned, byte for byte. */
export function makeLink(target: string, path: string): void {
  // The encoding `latin1` keeps the low byte of each character.
  symlinkSync(target.isWellFormed() ? target : Buffer.from(target, 'latin1'), path)
}
