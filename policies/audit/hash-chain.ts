import { createHash } from 'node:crypto'
import { closeSync, constants, ftruncateSync, openSync, writeSync } from 'node:fs'
import { readFile } from '../read-file.ts'

/**
 * The head of an audit log: the number of its records, and the hash of the last one. The end of a log can be cut off without a trace unless a copy of
 * the head is kept elsewhere.
 */
export type AuditHead = { readonly records: number; readonly hash: string }

/**
 * Formats the head of an audit log as one word, `RECORDS:HASH`, to be stored or passed on.
 *
 * @example const text = formatHead(withoutAuditLog().head()) // RECORDS:HASH
 */
export function formatHead({ records, hash }: AuditHead): string {
  return `${records}:${hash}`
}

/**
 * Parses the output of `formatHead`. Returns undefined for any other text.
 *
 * @example const head = parseHead(formatHead(withoutAuditLog().head()))
 */
export function parseHead(text: string): AuditHead | undefined {
  const [, records, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  return records === undefined || hash === undefined ? undefined : { records: Number(records), hash }
}

/** The text that the first record contains in place of the previous record's hash. */
export const firstHash = '0'.repeat(64)

/** The hash of a record: SHA-256 of its line, without the line feed. */
export function hashLine(line: string): string {
  return createHash('sha256').update(line, 'utf8').digest('hex')
}

/** The path of the file, next to the log, that stores the log's head. */
export function headPath(path: string): string {
  return `${path}.head`
}

/** The file that stores the head of a log, next to the log. It is open for writing. */
export type HeadFile = { readonly note: (head: AuditHead) => void; readonly close: () => void }

/**
 * Opens the file that stores the head of the log at `path`, and writes the current head. Each later head overwrites the one before it with a single
 * write. Heads never get shorter, and fit into a disk sector, so a killed run leaves either the old head or the new one. Writing another file and
 * renaming it would be no safer, and would cost several times as much as writing the rest of a record. Throws as `openSync` and `writeSync` do.
 */
export function openHead(path: string, head: AuditHead): HeadFile {
  const descriptor = openSync(headPath(path), constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o600)
  const note = (reached: AuditHead): number => writeSync(descriptor, `${JSON.stringify(reached)}\n`, 0)
  // If somebody else created the file, its text may be longer than the head, so the rest is cut off.
  ftruncateSync(descriptor, note(head))
  return { note, close: () => closeSync(descriptor) }
}

/** The stored head of a log; undefined if there is none that can be read. */
export function readHead(path: string): AuditHead | undefined {
  let text: string
  try {
    text = readFile(headPath(path), 4096).toString()
  } catch {
    // The caller reports a missing head as a finding.
    return undefined
  }
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || !('records' in value) || !('hash' in value)) return undefined
  const { records, hash } = value
  return typeof records === 'number' && typeof hash === 'string' ? { records, hash } : undefined
}

/** Parses a JSON text; undefined if it isn't valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports invalid JSON as one of its findings.
    return undefined
  }
}
