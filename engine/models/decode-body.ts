import type { IncomingMessage } from 'node:http'
import process from 'node:process'
import type { Readable, Transform } from 'node:stream'

/**
 * The maximum number of encodings of one body. A body with more encodings is taken for an attack, because each can multiply its length by a thousand.
 * `fetch` has the same limit.
 */
const mostEncodings = 5
/** Answers with these statuses have no body, whatever their headers say. */
const withoutBody = [101, 103, 204, 205, 304]

/**
 * Returns the decompressed body of an answer. Some servers compress even if the request doesn't allow it. As with `fetch`, a compressed body that
 * ends too early is not an error, and a body with an unknown encoding, such as `none` or `utf-8`, is returned as it is.
 *
 * @throws TypeError if the answer has too many encodings
 */
export function decodedBody(response: IncomingMessage, headers: Headers): Readable {
  const encodings = headers.get('content-encoding')?.toLowerCase().split(',') ?? []
  if (encodings.length === 0 || withoutBody.includes(response.statusCode ?? 0)) return response
  if (encodings.length > mostEncodings)
    throw new TypeError(`the server's answer has ${encodings.length} encodings; at most ${mostEncodings} are allowed`)
  const decoders = encodings.map((encoding) => decoderFor(encoding.trim()))
  if (decoders.includes(undefined)) return response
  const { pipeline } = process.getBuiltinModule('node:stream')
  return decoders
    .filter((create) => create !== undefined)
    .reduceRight<Readable>((encoded, create) => pipeline(encoded, create(), () => undefined), response)
}

function decoderFor(encoding: string): (() => Transform) | undefined {
  const zlib = process.getBuiltinModule('node:zlib')
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  const lenient = { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH }
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return () => zlib.createGunzip(lenient)
    case 'deflate':
      return () => process.getBuiltinModule('node:stream').Duplex.from(inflated) as Transform
    case 'br':
      return () => zlib.createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH })
    case 'zstd':
      // `createZstdDecompress` is undefined in Node before 22.15.
      return zlib.createZstdDecompress
    default:
      return undefined
  }
}

/**
 * Decompresses the encoding `deflate`, which is defined as a zlib stream. Some servers send raw deflate data instead; the first byte shows which of
 * the two it is.
 */
async function* inflated(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done === true) return
  const { createInflate, createInflateRaw, constants } = process.getBuiltinModule('node:zlib')
  const create = ((first.value[0] ?? 0) & 0x0f) === 0x08 ? createInflate : createInflateRaw
  const all = async function* (): AsyncGenerator<Buffer> {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const inflater = create({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH })
  yield* process.getBuiltinModule('node:stream').pipeline(all, inflater, () => undefined) as AsyncIterable<Buffer>
}
