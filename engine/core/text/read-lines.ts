import type { Readable } from 'node:stream'
import { UserError } from '../user-error.ts'

/**
 * Yields the lines of a stream as they come, and what follows the last line's end, if anything does.
 *
 * @param longest the longest line, in bytes
 * @param from the name of the stream, for messages
 * @throws UserError `usage` for a line that is too long. What follows could not be understood
 */
export async function* readLines(input: Readable, longest: number, from: string): AsyncGenerator<string, void> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString()
      rest = []
      length = 0
      start = end + 1
    }
    rest.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > longest) {
      input.destroy()
      throw new UserError('usage', `${from}: a line has more than ${longest} bytes. Send less at a time.`)
    }
  }
  if (length > 0) yield Buffer.concat(rest).toString()
}
