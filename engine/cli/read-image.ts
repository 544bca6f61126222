import { resolve } from 'node:path'
import { imageOf, maxImageBytes } from '../tools/files/image.ts'
import type { Image } from '../core/model.ts'
import { readUserBytes } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'

/** More than a picture may have, so that the message for a picture that is too big can name its size. */
const largestFile = 256 * 1024 * 1024

/**
 * Reads a picture for the model. Its type is determined by its bytes, not by its name.
 *
 * @throws UserError `usage` if the file can't be read, isn't a picture in a known format, or is too big
 */
export function readImage(file: string): Image {
  const path = resolve(file)
  const bytes = readUserBytes(path, largestFile, `-i ${path}`)
  const image = imageOf(bytes)
  if (image === undefined) throw new UserError('usage', `-i ${path}: not a PNG, JPEG, GIF or WebP picture`)
  if (bytes.length > maxImageBytes) {
    throw new UserError('usage', `-i ${path}: the picture has ${bytes.length} bytes; the limit is ${maxImageBytes}`)
  }
  return image
}
