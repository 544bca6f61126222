import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** How far a log has come: what an outside party must know to notice that its end was cut off. */
export type AuditHead = { readonly records: number; readonly hash: string }

/** A head as one word, `RECORDS:HASH`, to be kept or handed on. */
export function formatHead({ records, hash }: AuditHead): string {
  return `${records}:${hash}`
}

/** Reads what `formatHead` wrote; undefined where a text is none. */
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

/** The file beside a log that says how far it had come. */
export function headPath(path: string): string {
  return `${path}.head`
}

/** The head noted beside a log, or undefined where there is none that can be read. */
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
