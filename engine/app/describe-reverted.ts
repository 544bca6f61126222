import { basename } from 'node:path'
import type { Beginning } from '../session/start-session.ts'
import { revertedPatches } from '../transaction/change-record.ts'
import { openViewState } from '../transaction/stored-view.ts'

/**
 * Returns a notice for the user if changes of a resumed session were reverted and therefore aren't in its new view; otherwise an empty list.
 *
 * @param directory the session's directory
 */
export function describeReverted(directory: string): readonly string[] {
  const patch = revertedPatches(directory).at(-1)
  if (patch === undefined) return []
  return [
    `The changes that agent undo reverted are not in this run's view of the workspace. To get them back, run git apply ${patch}.`,
  ]
}

/**
 * Returns a notice for the user if a run continues the history of another session in a new view. This view lacks the changes that the other session made in
 * its own view without landing them. Otherwise, returns an empty list.
 */
export function describeUnlanded({ earlier, directory }: Beginning): readonly string[] {
  if (earlier === undefined || earlier === directory || openViewState(earlier) === undefined) return []
  const id = basename(earlier)
  return [
    `This run has a private view of its own, which contains only what has landed in the workspace. The view lacks the changes of the session ${id} that have not landed: to land them, run agent apply ${id} before you fork the session.`,
  ]
}
