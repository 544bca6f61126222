import type { Image } from '../../core/model.ts'
import { imageOf } from './image.ts'
import { imageSize } from './image-size.ts'

/** The maximum length of an image's longer side, in pixels. Providers scale larger images down, but charge for their original size. */
const longestSide = 2048
/** The maximum size of an image file, in bytes. The strictest provider accepts 5 MB in base64. */
const largestBytes = 3.75 * 1024 * 1024
/** The maximum number of pixels of an image. Larger images are not decoded, because each pixel takes four bytes of memory. */
const mostPixels = 64_000_000

/**
 * Converts a file to an image that every provider accepts: unchanged if it is small enough, otherwise encoded again and, if necessary, scaled down.
 *
 * @returns the image and a note on how it was changed; undefined if the bytes are not an image; or why the image can't be shown
 */
export async function fitImage(
  bytes: Buffer,
): Promise<{ readonly image: Image; readonly note: string } | undefined | { readonly problem: string }> {
  const image = imageOf(bytes)
  if (image === undefined) return undefined
  const size = imageSize(bytes, image.mediaType)
  if (size === undefined) return { problem: 'its header declares no size, so the file is damaged' }
  const { width, height } = size
  const told = `${image.mediaType}, ${width} × ${height}, ${bytes.length} bytes`
  const scale = Math.min(1, longestSide / Math.max(width, height))
  if (scale === 1 && bytes.length <= largestBytes) return { image, note: told }
  if (width * height > mostPixels)
    return { problem: `it has ${width} × ${height} pixels, but at most ${mostPixels} can be shown` }
  const smaller = await shrink(bytes, Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)))
  return 'problem' in smaller ? smaller : { ...smaller, note: `${told}; shown as ${smaller.size}` }
}

type Shrunk = { readonly image: Image; readonly size: string }

/** Scales an image. Photon, which only this file imports, is WebAssembly, so a malicious image can do no harm outside Photon's own memory. */
async function shrink(bytes: Buffer, width: number, height: number): Promise<Shrunk | { readonly problem: string }> {
  const { PhotonImage, resize, SamplingFilter } = await import('@cf-wasm/photon')
  let whole: InstanceType<typeof PhotonImage> | undefined
  let small: InstanceType<typeof PhotonImage> | undefined
  try {
    whole = PhotonImage.new_from_byteslice(bytes)
    small = resize(whole, width, height, SamplingFilter.Lanczos3)
    const png = small.get_bytes()
    // PNG is preferred, because it keeps drawings sharp. If the file would be too large, as for photographs, JPEG is used.
    const [mediaType, data] = png.length <= largestBytes ? ['image/png', png] : ['image/jpeg', small.get_bytes_jpeg(85)]
    const size = `${width} × ${height}, ${data.length} bytes`
    return { image: { mediaType, data: Buffer.from(data).toString('base64') }, size }
  } catch (error) {
    return { problem: `it can't be decoded: ${error instanceof Error ? error.message : String(error)}` }
  } finally {
    whole?.free()
    small?.free()
  }
}
