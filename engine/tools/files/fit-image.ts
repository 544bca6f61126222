import type { Image } from '../../core/model.ts'
import { imageOf } from './image.ts'
import { imageSize } from './image-size.ts'

/** The longest side that providers look at; more is scaled down by them, and paid for. */
const longestSide = 2048
/** The limit for the file: the strictest provider accepts 5 MB in base64. */
const largestBytes = 3.75 * 1024 * 1024
/** More than that is not decoded: four bytes a pixel have to fit the memory. */
const mostPixels = 64_000_000

/**
 * A file as a picture that every provider accepts: unchanged where it fits, else scaled down.
 *
 * @returns the picture and how it was changed, undefined where the bytes are no picture, or why it can't be shown
 */
export async function fitImage(
  bytes: Buffer,
): Promise<{ readonly image: Image; readonly note: string } | undefined | { readonly problem: string }> {
  const image = imageOf(bytes)
  if (image === undefined) return undefined
  const size = imageSize(bytes, image.mediaType)
  if (size === undefined) return { problem: 'it says no size, so it is broken' }
  const { width, height } = size
  const told = `${image.mediaType}, ${width} × ${height}, ${bytes.length} bytes`
  const scale = Math.min(1, longestSide / Math.max(width, height))
  if (scale === 1 && bytes.length <= largestBytes) return { image, note: told }
  if (width * height > mostPixels)
    return { problem: `it has ${width} × ${height} pixels, and at most ${mostPixels} can be shown` }
  const smaller = await shrink(bytes, Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)))
  return 'problem' in smaller ? smaller : { ...smaller, note: `${told}; shown as ${smaller.size}` }
}

type Shrunk = { readonly image: Image; readonly size: string }

/** Only this file imports photon. It is WebAssembly, so a malicious picture can only do harm in there. */
async function shrink(bytes: Buffer, width: number, height: number): Promise<Shrunk | { readonly problem: string }> {
  const { PhotonImage, resize, SamplingFilter } = await import('@cf-wasm/photon')
  let whole: InstanceType<typeof PhotonImage> | undefined
  let small: InstanceType<typeof PhotonImage> | undefined
  try {
    whole = PhotonImage.new_from_byteslice(bytes)
    small = resize(whole, width, height, SamplingFilter.Lanczos3)
    const png = small.get_bytes()
    // Drawings stay sharp as PNG; photographs would be too large.
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
