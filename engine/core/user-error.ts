import type { EndReason } from './exit-codes.ts'
import { shareInstanceof } from './share-instanceof.ts'

/**
 * A problem that the user has to fix before the program can continue. `message` says everything that the user needs: what happened, where (file, line, key),
 * what was expected, and what to do next. Programs print it without a stack trace and exit with the code of `reason`.
 *
 * @example
 * try {
 *   await openAgent({ workspace: '/no/such/place' })
 * } catch (error) {
 *   if (error instanceof UserError) console.error(error.message, exitCodes[error.reason])
 * }
 */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly reason: EndReason

  constructor(reason: EndReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

shareInstanceof('UserError', UserError)
