import { closeSync, readSync } from 'node:fs'
import { openRegular } from '../../sandbox/index.ts'
import { SourceError } from './source-error.ts'

const chunkBytes = 1024 * 1024
/**
 * The maximum length of a line that is parsed, in bytes. Longer lines are skipped. Of our records, only a line of a rollout may be that long, if it
 * contains a picture.
 */
const longestLine = 64 * 1024 * 1024

/**
 * Reads a file of JSON lines, one line at a time.
 *
 * @param each receives the value of each line; undefined for a line that isn't JSON or is too long
 * @throws SourceError if the file can't be read
 */
export function readJsonLines(path: string, each: (value: unknown) => void): void {
  let descriptor: number
  try {
    descriptor = openRegular(path, true)
  } catch (error) {
    throw new SourceError(`${path}: can't be read: ${(error as Error).message}`, { cause: error })
  }
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    let rest: Buffer[] = []
    let held = 0
    for (;;) {
      const length = readSync(descriptor, chunk, 0, chunkBytes, null)
      if (length === 0) break
      let from = 0
      for (let at = chunk.indexOf(10, from); at >= 0 && at < length; at = chunk.indexOf(10, from)) {
        const last = chunk.subarray(from, at)
        each(parse(held === 0 ? last : Buffer.concat([...rest, last])))
        rest = []
        held = 0
        from = at + 1
      }
      if (from < length && held <= longestLine) {
        rest.push(Buffer.from(chunk.subarray(from, length)))
        held += length - from
      }
    }
    if (held > 0) each(parse(Buffer.concat(rest)))
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw new SourceError(`${path}: can't be read: ${(error as Error).message}`, { cause: error })
  } finally {
    closeSync(descriptor)
  }
}

function parse(line: Buffer): unknown {
  if (line.length === 0 || line.length > longestLine) return undefined
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}
