import { crc32, deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { fitImage } from '../../../engine/tools/files/fit-image.ts'
import { imageSize } from '../../../engine/tools/files/image-size.ts'

/** Returns a black greyscale PNG of this size. If `pixels` is false, it has no pixel data. */
function png(width: number, height: number, pixels = true): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const rows = pixels ? deflateSync(Buffer.alloc((width + 1) * height, 0)) : Buffer.alloc(0)
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

function sizeOf(data: string): unknown {
  return imageSize(Buffer.from(data, 'base64'), 'image/png')
}

test('a picture that fits is shown as it is', async () => {
  const bytes = png(20, 10)
  expect(await fitImage(bytes)).toEqual({
    image: { mediaType: 'image/png', data: bytes.toString('base64') },
    note: `image/png, 20 × 10, ${bytes.length} bytes`,
  })
})

test('a larger one is scaled down, and keeps its proportions', async () => {
  const fitted = await fitImage(png(4096, 1024))
  if (fitted === undefined || 'problem' in fitted) throw new Error('expected a picture')
  expect(sizeOf(fitted.image.data)).toEqual({ width: 2048, height: 512 })
  expect(fitted.note).toContain('4096 × 1024')
})

test('one that would fill the memory is not decoded', async () => {
  expect(await fitImage(png(60_000, 60_000, false))).toEqual({
    problem: 'it has 60000 × 60000 pixels, but at most 64000000 can be shown',
  })
})

test('a broken one is reported', async () => {
  expect(await fitImage(png(4096, 4096, false))).toMatchObject({ problem: expect.stringContaining("can't be decoded") })
  expect(await fitImage(Buffer.from('\x89PNG\r\n\x1a\nshort', 'latin1'))).toEqual({
    problem: 'its header declares no size, so the file is damaged',
  })
})

test('a file that is not a picture is not treated as one', async () => {
  expect(await fitImage(Buffer.from('hello'))).toBeUndefined()
})

test.each([
  ['image/gif', 'GIF89a\x05\x00\x07\x00', { width: 5, height: 7 }],
  ['image/jpeg', '\xff\xd8\xff\xe0\x00\x04ab\xff\xc2\x00\x0b\x08\x00\x07\x00\x05', { width: 5, height: 7 }],
  ['image/webp', 'RIFF....WEBPVP8X\x0a\0\0\0\0\0\0\0\x04\0\0\x06\0\0', { width: 5, height: 7 }],
  ['image/webp', 'RIFF....WEBPVP8L....\x2f\x04\x80\x01\x00', { width: 5, height: 7 }],
])('the size of a %s is read from its head', (mediaType, head, size) => {
  expect(imageSize(Buffer.from(head, 'latin1'), mediaType)).toEqual(size)
})
