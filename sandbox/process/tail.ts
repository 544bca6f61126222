import type { Readable } from 'node:stream'

/** As much of a stream's end as tells why a command failed. */
const tailBytes = 16 * 1024

/** Keeps the end of what a stream brings, beside whoever else reads it. */
export function keepTail(stream: Readable | null): { readonly text: () => string } {
  let chunks: Buffer[] = []
  let size = 0
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > 4 * tailBytes) {
      chunks = [Buffer.concat(chunks).subarray(-tailBytes)]
      size = tailBytes
    }
  })
  return { text: () => Buffer.concat(chunks).subarray(-tailBytes).toString('utf8') }
}
