import process from 'node:process'
import { AuditError, verifyAuditLog } from '../../policies/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { UserError } from '../user-error.ts'

/** `agent audit verify`: prints every fault of a log with its line; exit code 1 when there is one. */
export function auditVerify(file: string): number {
  try {
    const { records, faults } = verifyAuditLog(file)
    for (const { line, message } of faults) process.stdout.write(`${file}:${line}: ${message}\n`)
    if (faults.length > 0) return exitCodes.failed
    process.stdout.write(`${file}: ${records} records, whole\n`)
    return exitCodes.done
  } catch (error) {
    if (error instanceof AuditError) throw new UserError('usage', `${file}: ${error.message}`, { cause: error })
    throw error
  }
}
