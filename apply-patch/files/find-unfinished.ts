import { dirname } from 'node:path'
import { listJournals } from './journal.ts'
import { findStateRoots, journalFolders } from './state-directory.ts'

/**
 * Finds unfinished commits: those that crashed, and those that are still running. Returns the directories that have one, out of a tree and all
 * directories that contain it. A commit may have changed any folder in its tree, so a later commit to one of these folders must take the unfinished one
 * into account. The search is cheap enough to be done before every plan.
 *
 * @param root absolute real path
 */
export function findUnfinished(root: string, stateDirectory: string | undefined): readonly string[] {
  const stateRoots = findStateRoots(stateDirectory)
  const lineage = [root]
  for (let at = root; at !== '/'; at = dirname(at)) lineage.push(dirname(at))
  return lineage.filter((tree) => journalFolders(tree, stateRoots).some(isUnfinished))
}

function isUnfinished(directory: string): boolean {
  return listJournals(directory, 'active').length + listJournals(directory, 'failed').length > 0
}
