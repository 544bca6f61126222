import { listJournals } from './journal.ts'
import { findStateDirectories } from './state-directory.ts'

/**
 * Whether a tree has commits that have not come to their end: crashed, or at work right now. Cheap enough to ask
 * before every plan.
 *
 * @param root absolute real path
 */
export function hasUnfinished(root: string, stateDirectory: string | undefined): boolean {
  return findStateDirectories(root, stateDirectory).some(
    (directory) => listJournals(directory, 'active').length + listJournals(directory, 'failed').length > 0,
  )
}
