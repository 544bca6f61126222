import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import * as z from 'zod'

/** Matches the paths of those files of an attempt that its worker sends back in an archive. The attempt's record is sent separately. */
const kept = /^(?:changes\.patch|report\.html|stderr\.txt|session\/.+)$/
const listSchema = z.array(z.object({ path: z.string(), size: z.int().min(0) }))
/** The highest plausible compression ratio. Sessions consist of text, which hardly ever compresses better than this. */
const mostRatio = 8

/** Thrown if the archive of a run's files would be larger than the limit. */
export class TooLarge extends Error {}

/**
 * Packs the files of an attempt.
 *
 * @param most the maximum size of the archive in bytes
 * @throws TooLarge if the archive would be larger, or if the files together have more than `mostRatio` times that size
 */
export async function packAttempt(directory: string, most: number): Promise<Buffer> {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter((path) => kept.test(path))
  const sizes = paths.map((path) => statSync(join(directory, path)).size)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  if (all > most * mostRatio) throw new TooLarge(`${all} bytes`)
  const files = paths.map((path) => readFileSync(join(directory, path)))
  const list = Buffer.from(JSON.stringify(paths.map((path, at) => ({ path, size: files[at]?.length ?? 0 }))))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(list.length)
  const packed = await promisify(gzip)(Buffer.concat([length, list, ...files]))
  if (packed.length > most) throw new TooLarge(`${packed.length} bytes`)
  return packed
}

/**
 * Unpacks the files of an attempt into its folder. The paths in the archive are checked, because the worker that packed it is not trusted.
 *
 * @param most the maximum size, in bytes, with which `packAttempt` was called
 * @throws an error if the archive isn't in the form that `packAttempt` produces, or if the unpacked data is too large for that size
 */
export async function unpackAttempt(packed: Uint8Array, directory: string, most: number): Promise<void> {
  const bytes = await promisify(gunzip)(packed, { maxOutputLength: most * mostRatio + 1_000_000 })
  let at = 4 + bytes.readUInt32BE(0)
  const files = listSchema.parse(JSON.parse(bytes.subarray(4, at).toString()))
  for (const { path } of files) {
    const isPlain = path
      .split('/')
      .every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0'))
    if (!isPlain || !kept.test(path))
      throw new Error(`it contains ${JSON.stringify(path)}, which does not belong in the archive of an attempt`)
  }
  for (const { path, size } of files) {
    if (at + size > bytes.length) throw new Error('it is cut')
    mkdirSync(join(directory, dirname(path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, path), bytes.subarray(at, at + size), { mode: 0o600 })
    at += size
  }
}
