/** Until this many bytes have been processed in total, computing checksums in JavaScript is cheaper than loading `node:zlib` with its streams. */
const bytesWorthLoading = 256 * 1024

/** For at most this many bytes in one call, computing the checksum in JavaScript is cheaper than calling `node:zlib`, even if it is already loaded. */
const bytesWorthCalling = 64

let zlib: Pick<typeof import('node:zlib'), 'crc32'> | undefined
let table: Int32Array | undefined
let computed = 0

/**
 * Returns the CRC-32 checksum of the bytes, as in zlib and in zip files, as an unsigned number.
 *
 * @param before the checksum of what precedes these bytes; 0 at the start
 */
export function crc32(bytes: Uint8Array, before = 0): number {
  computed += bytes.length
  if (computed > bytesWorthLoading && bytes.length > bytesWorthCalling) {
    zlib ??= process.getBuiltinModule('node:zlib')
    return zlib.crc32(bytes, before)
  }
  table ??= makeTable()
  let crc = ~before
  for (let at = 0; at < bytes.length; at++) crc = (table[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8)
  return ~crc >>> 0
}

function makeTable(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
    return crc
  })
}
