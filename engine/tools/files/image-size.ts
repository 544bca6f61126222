/** The size of an image in pixels. */
type ImageSize = { readonly width: number; readonly height: number }

/**
 * Reads the size that a PNG, JPEG, GIF or WebP file declares in its header, without decoding the image. Returns undefined if it declares
 * none. Sources: RFC 2083 (PNG), ITU-T T.81 (JPEG), GIF89a, RFC 9649 (WebP).
 */
export function imageSize(bytes: Buffer, mediaType: string): ImageSize | undefined {
  try {
    switch (mediaType) {
      case 'image/png':
        return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      case 'image/gif':
        return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
      case 'image/webp':
        return webpSize(bytes)
      case 'image/jpeg':
        return jpegSize(bytes)
      default:
        return undefined
    }
  } catch (error) {
    // The file ends within its header.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21)
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** Reads the size of a JPEG image from its frame header, which any number of other segments may precede. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; bytes.readUInt8(at) === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
  }
  return undefined
}
