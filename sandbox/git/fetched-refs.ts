import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import type { LeftRef, RefChange } from './ref-changes.ts'

/** Whether a ref says what another repository has. A fetch sets such refs, and a push. */
export function isOfRemote({ name }: RefChange): boolean {
  return name.startsWith('refs/remotes/')
}

/** The remote-tracking refs among these changes whose objects git doesn't have. They aren't kept, because they can be fetched again. */
export function lostFetched(git: HostGit, host: HeldDirectory, changes: readonly RefChange[]): readonly LeftRef[] {
  const fetched = changes.filter((change) => isOfRemote(change) && change.now?.startsWith('ref: ') === false)
  if (fetched.length === 0) return []
  const { stdout } = git.run(host, ['cat-file', '--batch-check=%(objectname)', '--buffer'], {
    input: Buffer.from(fetched.map(({ now }) => `${now}\n`).join('')),
  })
  const there = new Set<string | undefined>(stdout.toString().split('\n'))
  return fetched
    .filter(({ now }) => !there.has(now))
    .map(({ name }) => ({ ref: name, why: 'remote-tracking refs do not land' }))
}
