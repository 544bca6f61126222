import type { Place } from './held-place.ts'
import type { NetworkOptions } from './network/proxy.ts'
import type { SandboxPolicy } from './policy.ts'
import type { Sandbox } from './sandbox.ts'

/** What a backend gets besides the policy. */
type OpenOptions = {
  /** The image that commands run in, for a backend that has them. */
  readonly image: string | undefined
  /** For the proxy of a network allow-list. */
  readonly network: NetworkOptions | undefined
  /** The expected places at paths of the policy: `path-changed` is thrown where something else is there. */
  readonly wanted: readonly Place[]
}

/** The functions of every backend. */
export type BackendModule = {
  /** Opens the sandbox for a policy. Throws `SandboxError` `unavailable` for any part of it that can't be enforced here. */
  readonly open: (policy: SandboxPolicy, options: OpenOptions) => Promise<Sandbox>
  /** Finds out by a trial whether it can be used here; remembered results don't count. Throws `SandboxError` `unavailable`. */
  readonly tryOut: () => Promise<void>
  /** Default limits that it can't enforce here, as sentences, where those that are `planned` for this machine aren't all. Absent: they are. */
  readonly unenforced?: (planned: readonly string[]) => Promise<readonly string[]>
  /** Ends what a killed run's commands may still do, before their files are reviewed. Absent: nothing outlives a run. */
  readonly endLeftovers?: () => Promise<void>
}
