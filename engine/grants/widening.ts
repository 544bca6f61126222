import type { Grant } from '../../policies/index.ts'
import type { Sandbox, SandboxPolicy } from '../../sandbox/index.ts'
import { widenPolicy } from './widen-policy.ts'

/** The sandboxes of a run: its own, and the wider ones that were granted. */
export type Widening = {
  /**
   * The run's sandbox, widened by what was granted for the run and by these grants, and by nothing else.
   *
   * Throws `SandboxError` where no sandbox here can be widened so.
   */
  readonly sandboxFor: (grants: readonly Grant[]) => Promise<Sandbox>
  /** Lets grants hold for all that follows. */
  readonly keep: (grants: readonly Grant[]) => void
  /** Closes the wider ones; the run's own is left to who opened it. */
  readonly close: () => Promise<void>
}

/**
 * Keeps wider sandboxes at hand: one that was needed once is mostly needed again.
 *
 * @param open opens a sandbox for a policy, in the way that the run's own was opened
 */
export function createWidening(own: Sandbox, open: (policy: SandboxPolicy) => Promise<Sandbox>): Widening {
  const opened = new Map<string, Promise<Sandbox>>()
  const standing = new Map<string, Grant>()
  const keep = (grants: readonly Grant[]): void => {
    for (const grant of grants) standing.set(JSON.stringify(grant), grant)
  }
  return {
    keep,
    sandboxFor: (grants) => {
      const all = new Map([...standing, ...grants.map((grant) => [JSON.stringify(grant), grant] as const)])
      if (all.size === 0) return Promise.resolve(own)
      const key = [...all.keys()].toSorted().join('\n')
      const sandbox = opened.get(key) ?? open(widenPolicy(own.policy, [...all.values()]))
      opened.set(key, sandbox)
      // One that could not be opened may be possible later.
      sandbox.catch(() => opened.delete(key))
      return sandbox
    },
    close: async () => {
      for (const sandbox of opened.values()) {
        await sandbox.then(
          (one) => one.close(),
          () => undefined,
        )
      }
    },
  }
}
