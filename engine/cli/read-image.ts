import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Image } from '../model.ts'
import { UserError } from '../user-error.ts'

/** What providers take at most of one picture, in bytes. */
const maxBytes = 20 * 1024 * 1024

/** The formats that every provider takes, by how such a file begins. */
const formats: readonly { readonly mediaType: string; readonly begins: RegExp }[] = [
  { mediaType: 'image/png', begins: /^\x89PNG\r\n\x1a\n/ },
  { mediaType: 'image/jpeg', begins: /^\xff\xd8\xff/ },
  { mediaType: 'image/gif', begins: /^GIF8[79]a/ },
  { mediaType: 'image/webp', begins: /^RIFF[^]{4}WEBP/ },
]

/**
 * A picture to show the model. What it is, its bytes say, not its name.
 *
 * @throws UserError `usage` for a file that can't be read, is no picture of a known format, or is too big
 */
export function readImage(file: string): Image {
  const path = resolve(file)
  const bytes = readBytes(path)
  const start = bytes.toString('latin1', 0, 16)
  const format = formats.find(({ begins }) => begins.test(start))
  if (format === undefined) throw new UserError('usage', `-i ${path}: not a PNG, JPEG, GIF or WebP picture`)
  if (bytes.length > maxBytes) {
    throw new UserError('usage', `-i ${path}: ${bytes.length} bytes are too many; at most ${maxBytes} fit`)
  }
  return { mediaType: format.mediaType, data: bytes.toString('base64') }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UserError('usage', `-i ${path}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}
