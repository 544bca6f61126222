import { closeSync, existsSync, fstatSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import type { Action, Verdict } from '../action.ts'
import type { ApprovalMode } from '../approval-mode.ts'
import { AuditError } from './audit-error.ts'
import type { AuditBasis } from './basis.ts'
import { firstHash, hashLine, openHead, readHead, type AuditHead, type HeadFile } from './hash-chain.ts'
import { largestLog, readFile } from '../read-file.ts'
import { makeRedactor, redactDeep } from '../secrets/redact.ts'
import { holdsSeal, makeSeal, readSeal, sealRecord, type Seal } from './seal.ts'

/** A verdict as it is passed to the log, which adds a number, the time, the previous record's hash and a seal. */
export type AuditEntry = {
  readonly action: Action
  readonly mode: ApprovalMode
  readonly verdict: Verdict
  /** The command class and the commands that the analysis found, and the reasons why the list of commands may be incomplete. */
  readonly analysis:
    { readonly class: string; readonly commands: readonly string[]; readonly problems: readonly string[] } | undefined
  /**
   * The facts on which the verdict is based, except those in the other fields. Absent: they are unknown, so the action can't be judged again with
   * certainty.
   */
  readonly basis?: AuditBasis
  /** Milliseconds from the request for the verdict to the verdict, including the wait for a reviewer. */
  readonly took: number
}

/** An append-only log of verdicts. If the log has a file, `append` returns once the record is in it, and throws if the record can't be written. */
export type AuditLog = {
  readonly path: string | undefined
  readonly append: (entry: AuditEntry) => void
  readonly head: () => AuditHead
  readonly close: () => void
}

/**
 * Opens a log for appending. Creates it and its folder if they don't exist, readable only by the owner. Each line is a JSON object with the SHA-256
 * of the previous line and a seal, which can only be made with the key that is stored next to the log. Secrets are masked; they are recognized by
 * their shape and by the values in `environment` (default: this process's). Throws `AuditError` if the file can't be opened, or if its last line is
 * cut off, lacks a valid seal, or isn't the record to which the stored head refers. `append` throws it if the file can't be written, if something else
 * writes to the file too, or if the path no longer leads to the opened file.
 *
 * @example
 * const audit = openAuditLog('audit.jsonl')
 * const guardian = createGuardian({ approvalMode: 'never', reviewer: nobody, audit })
 * await guardian.review({ type: 'exec', argv: ['ls'], cwd: '/', sandbox: 'read-only' })
 * console.log(verifyAuditLog('audit.jsonl', { expected: guardian.head() }))
 */
export function openAuditLog(path: string, options: { readonly environment?: NodeJS.ProcessEnv } = {}): AuditLog {
  const redact = makeRedactor(options.environment ?? process.env)
  let descriptor: number
  let head: AuditHead
  let size: number
  // The file that stores the head. It is created with the first record, since an empty log needs no head.
  let beside: HeadFile | undefined
  let seal: Seal | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const before = existsSync(path) ? readFile(path, largestLog).toString() : ''
    descriptor = openSync(path, 'a+', 0o600)
    size = Buffer.byteLength(before)
    head = headOf(path, before)
  } catch (cause) {
    if (cause instanceof AuditError) throw cause
    throw new AuditError('unwritable', path, `the audit log can't be opened: ${String(cause)}`, { cause })
  }
  return {
    path,
    head: () => head,
    append: (entry) => {
      const open = fstatSync(descriptor)
      // A second writer would silently break the chain. The size of the file reveals it.
      if (open.size !== size) {
        throw new AuditError('not-alone', path, 'another program writes to the audit log; use one log for each run')
      }
      // A record is useless if the log's path no longer leads to the file that is open.
      const named = statSync(path, { throwIfNoEntry: false })
      if (open.nlink !== 1 || named?.ino !== open.ino || named.dev !== open.dev) {
        throw new AuditError('not-alone', path, 'the audit log was removed or replaced while the run was writing to it')
      }
      const record = { number: head.records + 1, time: new Date().toISOString(), previous: head.hash, ...entry }
      try {
        beside ??= openHead(path, head)
        seal ??= readSeal(path) ?? makeSeal(path, record.number)
        const line = sealRecord(JSON.stringify(redactRecord(record, redact)), seal)
        const bytes = Buffer.from(`${line}\n`)
        for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
        head = { records: record.number, hash: hashLine(line) }
        size += bytes.length
        beside.note(head)
      } catch (cause) {
        throw new AuditError('unwritable', path, `the audit log can't be written: ${String(cause)}`, { cause })
      }
    },
    close: () => {
      closeSync(descriptor)
      beside?.close()
    },
  }
}

/**
 * Creates a log that keeps only the number of records and the last hash, in memory. It is for runs that must leave no files behind.
 *
 * @example const guardian = createGuardian({ approvalMode: 'on-request', reviewer: nobody, audit: withoutAuditLog() })
 */
export function withoutAuditLog(): AuditLog {
  let head: AuditHead = { records: 0, hash: firstHash }
  return {
    path: undefined,
    head: () => head,
    append: (entry) => {
      head = { records: head.records + 1, hash: hashLine(head.hash + JSON.stringify(entry)) }
    },
    close: () => undefined,
  }
}

function headOf(path: string, text: string): AuditHead {
  const lines = text.split('\n')
  if (lines.pop() !== '')
    throw new AuditError('broken', path, 'its last record is cut off; verify the log and start a new one')
  const head = { records: lines.length, hash: lines.length === 0 ? firstHash : hashLine(lines.at(-1) ?? '') }
  const noted = readHead(path)
  const seal = readSeal(path)
  if (seal !== undefined && head.records >= seal.from && !holdsSeal(lines.at(-1) ?? '', seal))
    throw new AuditError('broken', path, 'its last record was not written by a run; verify the log and start a new one')
  // Appending to a log whose end was cut off would hide the cut. A head that is one record behind is normal after a killed run.
  if (
    noted !== undefined &&
    (noted.records < head.records - 1 ||
      noted.records > head.records ||
      (noted.records === head.records && noted.hash !== head.hash))
  ) {
    throw new AuditError(
      'broken',
      path,
      'it does not end with the record that was written last; verify the log and start a new one',
    )
  }
  return head
}

/** Masks the secrets in a record, except in the hash of the previous record, which only looks like a secret. */
function redactRecord(record: { readonly previous: string }, redact: (text: string) => string): unknown {
  const { previous, ...rest } = record
  return { previous, ...(redactDeep(rest, redact) as object) }
}
