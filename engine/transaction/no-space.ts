import { basename } from 'node:path'
import type { TreeTooLarge } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'

/** Error codes for a full disk and an exceeded quota. */
const noSpace: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

/** Whether an operation failed because no space was left. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && noSpace.has(String(error.code))
}

/** Creates the error for a full disk: the session's changes can't be stored, so nothing lands. */
export function noRoomFor(directory: string, cause: unknown): UserError {
  const message =
    `Nothing was landed, and the tree is as it was: no space is left in ${directory} to store the run's changes. ` +
    `The run's private view still has all of them. Free some disk space, then land them with agent apply ${basename(directory)}.`
  return new UserError('failed', message, { cause })
}

/** Creates the error for a view that holds more than one landing can look through or record, so nothing lands. */
export function tooMuchIn(directory: string, cause: TreeTooLarge): UserError {
  const id = basename(directory)
  const message =
    `Nothing was landed, and the tree is as it was: ${cause.message}, which is more than one landing can handle. ` +
    "The run's private view still has all of them. Continue the session with agent exec resume " +
    `${id} to remove what isn't needed; the rest then lands. Or discard everything with agent discard ${id}.`
  return new UserError('failed', message, { cause })
}
