import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { imageOf, maxImageBytes } from '../tools/files/image.ts'
import type { Image } from '../core/model.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Reads a picture for the model. Its type is determined by its bytes, not by its name.
 *
 * @throws UserError `usage` if the file can't be read, isn't a picture in a known format, or is too big
 */
export function readImage(file: string): Image {
  const path = resolve(file)
  const bytes = readBytes(path)
  const image = imageOf(bytes)
  if (image === undefined) throw new UserError('usage', `-i ${path}: not a PNG, JPEG, GIF or WebP picture`)
  if (bytes.length > maxImageBytes) {
    throw new UserError('usage', `-i ${path}: the picture has ${bytes.length} bytes; the limit is ${maxImageBytes}`)
  }
  return image
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UserError('usage', `-i ${path}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}
