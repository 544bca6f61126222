import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib'
import { passHead } from '../network/pass-head.ts'
import type { Origin } from './credential.ts'
import { codingOf, headersBack, isText } from './headers.ts'
import type { ValueMask } from './mask-value.ts'

/** Passes an answer on to a command. If it is text in a known coding, the value is masked in it, as it always is in headers. */
export function answerBack(
  answer: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  {
    origin,
    mask,
    counts,
  }: { readonly origin: Origin; readonly mask: ValueMask; readonly counts: { received: number } },
): void {
  const back = headersBack(headers, origin, mask.text)
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      counts.received += chunk.length
      done(null, chunk)
    },
  })
  const coding = codingOf(answer.headers)
  const hasBody = answer.headers['content-length'] !== '0' && ![204, 304].includes(answer.statusCode ?? 0)
  const masks = hasBody && isText(answer.headers) && coding !== undefined
  const isCoded = masks && coding !== 'identity'
  if (isCoded) delete back['content-encoding']
  const length = answer.headers['content-length']
  if (length !== undefined && !isCoded) back['content-length'] = length
  if (!passHead(answer, response, mask.text(answer.statusMessage ?? ''), back)) return
  const done = (): void => undefined
  if (!masks) pipeline(answer, counted, response, done)
  else if (coding === 'identity') pipeline(answer, counted, mask.stream(), response, done)
  else pipeline(answer, counted, decoder(coding), mask.stream(), response, done)
}

function decoder(coding: 'gzip' | 'br' | 'zstd') {
  switch (coding) {
    case 'gzip':
      return createGunzip({ flush: constants.Z_SYNC_FLUSH })
    case 'br':
      return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })
    case 'zstd':
      return createZstdDecompress({ flush: constants.ZSTD_e_flush })
    default:
      return coding satisfies never
  }
}
