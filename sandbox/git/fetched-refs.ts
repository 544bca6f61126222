import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import type { LeftRef, RefChange } from './ref-changes.ts'
import { isNew } from './store-commits.ts'

/** Whether a ref says what another repository has. A fetch sets such refs, and a push. */
export function isOfRemote({ name }: RefChange): boolean {
  return name.startsWith('refs/remotes/')
}

/**
 * The remote-tracking refs among these changes whose commits the repository doesn't have. They aren't kept, because they can be fetched again.
 *
 * @param known other commits that the repository is going to have
 */
export function lostFetched(
  git: HostGit,
  host: HeldDirectory,
  changes: readonly RefChange[],
  known: readonly string[],
  objects: string,
): readonly LeftRef[] {
  return changes.flatMap((change) => {
    const { name, now } = change
    const isLost = now?.startsWith('ref: ') === false && isNew(git, host, now, known, objects) !== false
    return isOfRemote(change) && isLost ? [{ ref: name, why: 'remote-tracking refs do not land' }] : []
  })
}
