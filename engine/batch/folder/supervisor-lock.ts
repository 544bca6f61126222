import { holderOf, lockFolder, type FolderLock, type Holder } from '../../core/folder-lock.ts'
import { UserError } from '../../core/user-error.ts'

/** The name of the lock in a batch's folder. */
const name = 'supervisor'

/**
 * Takes the lock of a batch's folder, because two supervisors together would exceed the batch's limits. The lock is void when its process has ended. If the
 * process is on another machine, this can't be checked, and its lock is void when it hasn't been renewed for two minutes.
 *
 * @throws UserError `usage` if another process supervises the batch or takes the lock first; the message names that process, if it is known
 */
export function leaseFolder(folder: string): FolderLock {
  const taken = lockFolder(folder, name, 'supervising this batch')
  if ('lock' in taken) return taken.lock
  const { holder } = taken
  const who = holder === 'undecided' ? 'another process' : `process ${holder.pid} of ${holder.host}`
  throw new UserError('usage', `${folder} is supervised by ${who}. To see its progress, run agent batch status.`)
}

/** Finds the process that supervises a batch now; undefined if there is none. */
export function supervisorOf(folder: string): Holder | undefined {
  return holderOf(folder, name)
}
