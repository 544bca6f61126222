import { dirname } from 'node:path'
import { listJournals } from './journal.ts'
import { findStateRoots, journalFolders } from './state-directory.ts'

/**
 * Which of a tree and the trees around it have commits that have not come to their end: crashed, or at work right
 * now. A commit to a tree may have changed any folder in it, so the next one to such a folder must know. Cheap enough
 * to ask before every plan.
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
