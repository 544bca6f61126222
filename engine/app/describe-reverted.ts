import { revertedPatches } from '../transaction/change-record.ts'

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
