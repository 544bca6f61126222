import { statSync } from 'node:fs'
import { join } from 'node:path'
import { AuditError, parseHead, verifyAuditLog, type AuditHead } from '../../policies/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { counted } from '../core/text/counted.ts'
import { findSessionFolder, type NamedRun } from './find-session.ts'
import { UserError } from '../core/user-error.ts'
import { print } from './print.ts'

/**
 * `agent audit verify`: checks an audit log, and prints each problem with its line number. The exit code is 1 if there is a problem.
 *
 * @param named the log, or the session that it belongs to: its folder, its id, or the beginning or end of the id.
 * @param head the number of records and the last hash of the log, as `RECORDS:HASH` from the run's last event. Undefined: they are read from the file
 * next to the log
 */
export function auditVerify(named: NamedRun, head: string | undefined): number {
  const file =
    typeof named === 'string' && statSync(named, { throwIfNoEntry: false })?.isFile() === true
      ? named
      : join(findSessionFolder(named), 'audit.jsonl')
  const expected = head === undefined ? undefined : readHead(head)
  try {
    const { records, faults } = verifyAuditLog(file, expected === undefined ? {} : { expected })
    for (const { line, message } of faults) print(`${file}:${line}: ${message}`)
    if (faults.length > 0) return exitCodes.failed
    print(`${file}: ${counted(records, 'record')}, intact`)
    return exitCodes.done
  } catch (error) {
    if (error instanceof AuditError) throw new UserError('usage', `${file}: ${error.message}`, { cause: error })
    throw error
  }
}

function readHead(text: string): AuditHead {
  const head = parseHead(text)
  if (head !== undefined) return head
  throw new UserError('usage', `--head ${text}: expected RECORDS:HASH, the value of audit_head in a run's last event`)
}
