import { createHash } from 'node:crypto'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

/** The position of a log's end, which an outside party must know to detect that the end was cut off. */
export type AuditHead = { readonly records: number; readonly hash: string }

/**
 * A head as one word, `RECORDS:HASH`, to be stored or passed on.
 *
 * @example const text = formatHead(withoutAuditLog().head()) // RECORDS:HASH
 */
export function formatHead({ records, hash }: AuditHead): string {
  return `${records}:${hash}`
}

/**
 * Parses the output of `formatHead`; undefined for anything else.
 *
 * @example const head = parseHead(formatHead(withoutAuditLog().head()))
 */
export function parseHead(text: string): AuditHead | undefined {
  const [, records, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  return records === undefined || hash === undefined ? undefined : { records: Number(records), hash }
}

/** The hash that the first record carries. */
export const firstHash = '0'.repeat(64)

/** The hash of a record: SHA-256 of its line, without the line feed. */
export function hashLine(line: string): string {
  return createHash('sha256').update(line, 'utf8').digest('hex')
}

/** The file next to a log that stores its head. */
export function headPath(path: string): string {
  return `${path}.head`
}

/** The file next to a log, open for writing its head. */
export type HeadFile = { readonly note: (head: AuditHead) => void; readonly close: () => void }

/**
 * Opens the file next to the log at `path` and writes `head`, the current end of the log. Later heads replace it in place, by a single write: a head
 * only grows with its number and fits into a sector, so a killed run leaves the old or the new one. Renaming a separate file would be no safer and
 * costs several times as much as the rest of a record. Throws as `openSync` and `writeSync` do.
 */
export function openHead(path: string, head: AuditHead): HeadFile {
  const descriptor = openSync(headPath(path), constants.O_WRONLY | constants.O_CREAT, 0o600)
  const note = (reached: AuditHead): number => writeSync(descriptor, `${JSON.stringify(reached)}\n`, 0)
  // The earlier text may have been longer, if somebody prepared it.
  ftruncateSync(descriptor, note(head))
  return { note, close: () => closeSync(descriptor) }
}

/** The stored head of a log, or undefined where there is none that can be read. */
export function readHead(path: string): AuditHead | undefined {
  let text: string
  try {
    text = readFileSync(headPath(path), 'utf8')
  } catch {
    // Its absence is a finding, reported by the caller.
    return undefined
  }
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || !('records' in value) || !('hash' in value)) return undefined
  const { records, hash } = value
  return typeof records === 'number' && typeof hash === 'string' ? { records, hash } : undefined
}

/** The value of a JSON text, or undefined where it isn't one. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON is one of the findings.
    return undefined
  }
}
