import { largestLog, readFile } from '../read-file.ts'
import { AuditError } from './audit-error.ts'
import { holdsSeal, isSealed, readSeal, sealPath } from './seal.ts'
import { firstHash, hashLine, headPath, parseJson, readHead, type AuditHead } from './hash-chain.ts'

/** A problem that was found in an audit log. */
export type AuditFault = {
  readonly kind: 'not-a-record' | 'edited' | 'removed' | 'truncated' | 'forged' | 'no-head' | 'no-key'
  /** The number of the line, counted from 1. If the end of the log or the stored head is missing, it is the number of the last line plus one. */
  readonly line: number
  readonly message: string
}

/** The result of checking an audit log. */
export type AuditVerification = {
  readonly records: number
  readonly head: AuditHead
  /** The problems that were found, including a missing head or key; empty if the log passed every check. */
  readonly faults: readonly AuditFault[]
}

/**
 * Checks that a log is complete: every line is a record, the records are numbered without gaps, each contains the hash of the one before it and (if
 * it is newer than the log's key) a seal made with the key, and the last one is the record to which the stored head refers. Whoever can write both
 * the log and the head can cut records off the log and change the head to match. A copy of the head that is kept elsewhere reveals such a cut: with
 * `expected`, the log must also contain that head, even if the log has grown since. Throws `AuditError` if the log can't be read.
 *
 * @example
 * const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit: openAuditLog('audit.jsonl') })
 * await guardian.review({ type: 'exec', argv: ['ls'], cwd: '/', sandbox: 'read-only' })
 * const { faults } = verifyAuditLog('audit.jsonl')
 */
export function verifyAuditLog(path: string, options: { readonly expected?: AuditHead } = {}): AuditVerification {
  const lines = readLog(path).split('\n')
  const faults: AuditFault[] = []
  if (lines.pop() !== '') {
    faults.push({ kind: 'truncated', line: lines.length + 1, message: 'the last record is cut off' })
  }
  let previous = firstHash
  let number = 0
  const seal = readSeal(path)
  let unsealable: number | undefined
  let before: AuditHead = { records: 0, hash: firstHash }
  let passed = options.expected?.records === 0 ? firstHash : undefined
  for (const [at, line] of lines.entries()) {
    const record = readRecord(line)
    before = { records: number, hash: previous }
    if (record === undefined) {
      faults.push({ kind: 'not-a-record', line: at + 1, message: 'this line is not a record' })
    } else {
      if (record.number !== number + 1) {
        const message = `record ${number + 1} is missing: this one has number ${record.number}`
        faults.push({ kind: 'removed', line: at + 1, message })
      } else if (record.previous !== previous) {
        faults.push({
          kind: 'edited',
          line: at + 1,
          message: `this record doesn't contain the hash of the previous record, so one of the two was changed`,
        })
      }
      number = record.number
      if (seal === undefined) unsealable ??= isSealed(line) ? at + 1 : undefined
      else if (record.number >= seal.from && !holdsSeal(line, seal)) {
        faults.push({
          kind: 'forged',
          line: at + 1,
          message: "this record doesn't have a valid seal made with the log's key",
        })
      }
    }
    previous = hashLine(line)
    if (number === options.expected?.records) passed = previous
  }
  const head: AuditHead = { records: number, hash: previous }
  const noted = readHead(path)
  // If a run was killed after it wrote a record and before it wrote the head, the head is one record behind.
  const isBehind = noted !== undefined && noted.records === before.records && noted.hash === before.hash
  // If there is no stored head, only the copy of the head that the caller passes can show whether the log is complete.
  const expected = isBehind ? head : (noted ?? (options.expected === undefined ? undefined : head))
  // Key and head are made with the first record, so without either a log without records is one in which nothing was judged.
  const isUnused = lines.length === 0 && faults.length === 0 && seal === undefined
  if (expected === undefined && isUnused) return { records: 0, head, faults: missed(options.expected, passed, head) }
  if (expected === undefined) {
    faults.push({
      kind: 'no-head',
      line: lines.length + 1,
      message: `${headPath(path)} is missing, so the end of the log can't be checked`,
    })
  } else if (expected.records > head.records) {
    faults.push({
      kind: 'truncated',
      line: lines.length + 1,
      message: `the log ends at record ${head.records}, but ${expected.records} records were written`,
    })
  } else if (expected.records !== head.records || expected.hash !== head.hash) {
    faults.push({
      kind: 'edited',
      line: lines.length,
      message: 'the log does not end with the record that was written last',
    })
  }
  // A missing key is not a fault if the caller expects a certain head: a copy of the log that is stored elsewhere usually comes without the key.
  if (unsealable !== undefined && options.expected === undefined) {
    const message = `${sealPath(path)} is missing or broken, so forged records can't be detected`
    faults.push({ kind: 'no-key', line: unsealable, message })
  }
  faults.push(...missed(options.expected, passed, head))
  return { records: lines.length, head, faults }
}

/**
 * Returns a fault if the log contradicts a copy of the head, and otherwise an empty list. `passed` is the hash that was computed from the log for the
 * record to which the copy refers; undefined if the log has no such record.
 */
function missed(expected: AuditHead | undefined, passed: string | undefined, head: AuditHead): readonly AuditFault[] {
  if (expected === undefined || passed === expected.hash) return []
  if (expected.records > head.records) {
    const message = `the log ends at record ${head.records}, but the given head is that of record ${expected.records}`
    return [{ kind: 'truncated', line: head.records + 1, message }]
  }
  const message = `record ${expected.records} doesn't match the given head`
  return [{ kind: 'edited', line: Math.max(1, expected.records), message }]
}

function readLog(path: string): string {
  try {
    return readFile(path, largestLog).toString()
  } catch (cause) {
    throw new AuditError('unreadable', path, `the audit log can't be read: ${String(cause)}`, { cause })
  }
}

function readRecord(line: string): { readonly number: number; readonly previous: string } | undefined {
  const value = parseJson(line)
  if (typeof value !== 'object' || value === null || !('number' in value) || !('previous' in value)) return undefined
  const { number, previous } = value
  return typeof number === 'number' && typeof previous === 'string' ? { number, previous } : undefined
}
