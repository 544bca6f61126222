import type { Place } from './held-place.ts'
import type { NetworkOptions } from './network/proxy.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { Sandbox } from './sandbox.ts'

/** What a backend gets in addition to the policy. */
type OpenOptions = {
  /** The image that commands run in, for a backend that has them. */
  readonly image: string | undefined
  /** Resolves host names for the proxy of a network allow-list. */
  readonly network: NetworkOptions | undefined
  /** The entries that must be at paths of the policy: `path-changed` is thrown if something else is there. */
  readonly wanted: readonly Place[]
}

/** The functions of every backend. */
export type BackendModule = {
  /** Opens the sandbox for a policy. Throws `SandboxError` `unavailable` if any part of the policy can't be enforced here. */
  readonly open: (policy: SandboxPolicy, options: OpenOptions) => Promise<Sandbox>
  /** Finds out by a trial whether it can be used here; remembered results don't count. Throws `SandboxError` `unavailable`. */
  readonly tryOut: () => Promise<void>
  /**
   * Default limits that this backend can't enforce here, as sentences. Only needed if it can't enforce all limits that are `planned` for this
   * machine. Absent: it can.
   */
  readonly unenforced?: (planned: readonly string[]) => Promise<readonly string[]>
  /** Ends the commands of a killed run, before their files are reviewed. Absent: no command outlives its run. */
  readonly endLeftovers?: () => Promise<void>
}
