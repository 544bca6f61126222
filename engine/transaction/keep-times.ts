import { setModificationTimes } from '../../sandbox/index.ts'
import type { RunChange } from './change-record.ts'

/**
 * Gives landed entries the modification times that they have in the view, so that `make` and its like find nothing to do that the run has done already. The
 * times of directories that existed before are the landing's.
 *
 * @param directory the session's folder
 */
export async function keepTimes(directory: string, landed: readonly RunChange[]): Promise<void> {
  for (const [root, changes] of Map.groupBy(landed, (change) => change.root)) {
    const entries = changes.flatMap(({ path, modified }) =>
      modified === undefined ? [] : [{ path, modified: BigInt(modified) }],
    )
    await setModificationTimes(directory, root, entries).catch(() => {
      // The changes have landed, and a time is no reason to report that they have not.
    })
  }
}
