import { basename } from 'node:path'
import { UserError } from '../core/user-error.ts'

/** What a disk answers that is full, or of which this user has had enough. */
const noSpace: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

/** Whether an operation failed since there was no space left for it. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && noSpace.has(String(error.code))
}

/** What a user is told when the changes of a session can't be stored, so that nothing lands. */
export function noRoomFor(directory: string, cause: unknown): UserError {
  const message =
    `Nothing was landed, and the tree is as it was: no space is left in ${directory} to store what the run changed. ` +
    `It is all in the run's private view. Make room there; then agent apply ${basename(directory)} lands it.`
  return new UserError('failed', message, { cause })
}
