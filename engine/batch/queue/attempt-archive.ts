import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import * as z from 'zod'

/** What of an attempt comes back from its worker; its record goes by itself. */
const kept = /^(?:changes\.patch|report\.html|stderr\.txt|session\/.+)$/
const listSchema = z.array(z.object({ path: z.string(), size: z.int().min(0) }))
/** Sessions are text, and become so much smaller at most as makes sense. */
const mostRatio = 8

/** What a run left is more than may go. */
export class TooLarge extends Error {}

/**
 * The files of an attempt, as bytes.
 *
 * @param most how many bytes may be made of them
 * @throws TooLarge for more
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
 * Puts them where they belong. Whoever packed them is not trusted with where that is.
 *
 * @throws an error where they are not what `packAttempt` makes
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
      throw new Error(`it holds ${JSON.stringify(path)}, which is no file of an attempt`)
  }
  for (const { path, size } of files) {
    if (at + size > bytes.length) throw new Error('it is cut')
    mkdirSync(join(directory, dirname(path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, path), bytes.subarray(at, at + size), { mode: 0o600 })
    at += size
  }
}
