import type { Readable } from 'node:stream'
import { UserError } from '../../core/user-error.ts'

/** The longest line that a client may write, in bytes: several pictures fit in. */
const longestLine = 64 * 1024 * 1024

/**
 * Yields the lines of a stream as they come, and what follows the last line's end, if anything does.
 *
 * @throws UserError `usage` for a line that is too long. What follows could not be understood
 */
export async function* readLines(input: Readable): AsyncGenerator<string, void> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString()
      rest = []
      length = 0
      from = end + 1
    }
    rest.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > longestLine) {
      input.destroy()
      throw new UserError('usage', `Standard input: a line has more than ${longestLine} bytes. Send less at a time.`)
    }
  }
  if (length > 0) yield Buffer.concat(rest).toString()
}
