import { shareInstanceof } from '../share-instanceof.ts'

/**
 * Thrown if an audit log can't be read or written, is damaged, or was changed by another program. An action that can't be recorded doesn't run.
 *
 * @example
 * try {
 *   openAuditLog('/dev/null/audit.jsonl')
 * } catch (error) {
 *   if (error instanceof AuditError) console.error(error.code, error.path)
 * }
 */
export class AuditError extends Error {
  readonly code: 'unreadable' | 'unwritable' | 'broken' | 'not-alone'
  readonly path: string

  constructor(code: AuditError['code'], path: string, message: string, options?: ErrorOptions) {
    super(`${path}: ${message}`, options)
    this.name = 'AuditError'
    this.code = code
    this.path = path
  }
}

shareInstanceof('AuditError', AuditError)
