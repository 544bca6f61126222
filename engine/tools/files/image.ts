import type { Image } from '../../core/model.ts'

/** The size limit for image files, in bytes. */
export const maxImageBytes = 20 * 1024 * 1024

/** The formats that every provider accepts, each with the bytes that its files begin with. */
const formats: readonly { readonly mediaType: string; readonly begins: RegExp }[] = [
  { mediaType: 'image/png', begins: /^\x89PNG\r\n\x1a\n/ },
  { mediaType: 'image/jpeg', begins: /^\xff\xd8\xff/ },
  { mediaType: 'image/gif', begins: /^GIF8[79]a/ },
  { mediaType: 'image/webp', begins: /^RIFF[^]{4}WEBP/ },
]

/** Converts a file to an image for the model. Returns undefined if it is not a PNG, JPEG, GIF or WebP file. */
export function imageOf(bytes: Buffer): Image | undefined {
  const start = bytes.toString('latin1', 0, 16)
  const format = formats.find(({ begins }) => begins.test(start))
  return format === undefined ? undefined : { mediaType: format.mediaType, data: bytes.toString('base64') }
}
