import { crc32 as zlib } from 'node:zlib'
import { expect, test } from 'vitest'
import { crc32 } from '../../../apply-patch/files/crc32.ts'

test("our checksum equals zlib's, for few bytes and many, in one piece or several", () => {
  for (const size of [0, 1, 9, 1000, 300_000]) {
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 31 + (index >> 3)) & 0xff))
    const middle = size >> 1
    expect(crc32(bytes)).toBe(zlib(bytes))
    expect(crc32(bytes.subarray(middle), crc32(bytes.subarray(0, middle)))).toBe(zlib(bytes))
  }
})
