import { Writable, type Readable } from 'node:stream'

/**
 * The length of a frame's header in bytes. The header contains the number of the stream, three zero bytes, and the length of the data (Docker Engine
 * API, "Attach", stream format).
 */
const headerBytes = 8
const isStderr = 2

/**
 * Splits the single stream in which a daemon sends a command's two outputs. A slow reader of either output slows down the command, as a pipe would,
 * so that our memory doesn't fill up. This function ends neither output.
 */
export function demultiplex(stream: Readable, stdout: Writable, stderr: Writable): void {
  let header = Buffer.alloc(0)
  let left = 0
  let to = stdout
  const takeApart = async (chunk: Buffer): Promise<void> => {
    let rest = chunk
    while (rest.length > 0) {
      if (left === 0) {
        const missing = headerBytes - header.length
        header = Buffer.concat([header, rest.subarray(0, missing)])
        rest = rest.subarray(missing)
        if (header.length < headerBytes) return
        to = header[0] === isStderr ? stderr : stdout
        left = header.readUInt32BE(4)
        header = Buffer.alloc(0)
      } else {
        const piece = rest.subarray(0, left)
        rest = rest.subarray(piece.length)
        left -= piece.length
        if (!to.destroyed && !to.write(piece)) await drained(to)
      }
    }
  }
  stream.pipe(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => void takeApart(chunk).then(() => done(), done),
    }),
  )
}

/** Resolves when a stream accepts more data, or when it is certain that it never will. */
async function drained(stream: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const go = (): void => {
      stream.off('drain', go)
      stream.off('close', go)
      resolve()
    }
    stream.once('drain', go)
    stream.once('close', go)
  })
}
