import type { Readable } from 'node:stream'

/** How many bytes of a stream's end to keep: enough to show why a command failed. */
const tailBytes = 16 * 1024

/** Keeps the end of a stream's data while another reader consumes the stream. */
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
