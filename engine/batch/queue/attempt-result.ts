import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import * as z from 'zod'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { attemptRecord, type AttemptRecord } from '../folder/records.ts'

/** The record of an attempt together with its files, as a worker that doesn't share the batch's folder sends them through Redis. */

/** The maximum size of an attempt's files together, in bytes. */
const mostResultBytes = 64 * 1024 * 1024
/** Matches the paths of the files that are sent. */
const kept = /^(?:changes\.patch|report\.html|stderr\.txt|session\/.+)$/
const isKept = (path: string): boolean =>
  kept.test(path) && path.split('/').every((name) => !['', '.', '..'].includes(name))
/** One byte of a file takes at most six characters in JSON. */
const mostRatio = 6
const schema = z.object({ record: attemptRecord, files: z.record(z.string().refine(isKept), z.string()) })

/**
 * Packs the result of an attempt that has ended.
 *
 * @param most the maximum size of the files together, in bytes. If they are larger, only the record is packed, as that of an attempt without an answer
 */
export async function packResult(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  most = mostResultBytes,
): Promise<Buffer> {
  const directory = folder.attemptPath(trial, attempt)
  const record = folder.attemptOf(trial, attempt)
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter((path) => isKept(path))
  const bytes = paths.reduce((sum, path) => sum + statSync(join(directory, path)).size, 0)
  const error = `its files have ${Math.ceil(bytes / 1024)} KiB, and at most ${most / 1024} KiB may be sent through Redis; let the workers share the batch's folder (--store DIR)`
  const result =
    bytes > most && record !== undefined
      ? { record: withoutFiles(record, error), files: {} }
      : {
          record,
          files: Object.fromEntries(paths.map((path) => [path, readFileSync(join(directory, path), 'latin1')])),
        }
  return promisify(gzip)(JSON.stringify(result))
}

/** Unpacks a result. @throws an error if it is not in the form that `packResult` produces, or too large */
export async function unpackResult(packed: Buffer, most = mostResultBytes): Promise<z.infer<typeof schema>> {
  const text = await promisify(gunzip)(packed, { maxOutputLength: most * mostRatio + 1_000_000 })
  return schema.parse(JSON.parse(text.toString()))
}

/** Writes the files of an unpacked result into the attempt's folder. */
export function writeResultFiles(files: Readonly<Record<string, string>>, directory: string): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(directory, dirname(path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, path), text, { encoding: 'latin1', mode: 0o600 })
  }
}

/** The record of a run whose files are unusable, or arrived too late. Its cost still counts. */
export function withoutFiles(
  { patch: _, session: __, exit_code: ___, ...record }: AttemptRecord,
  error: string,
): AttemptRecord {
  return { ...record, outcome: 'infrastructure', error }
}
