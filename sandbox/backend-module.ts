import type { Place } from './held-place.ts'
import type { NetworkOptions } from './network/proxy.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { Sandbox } from './sandbox.ts'
import type { SecondFence } from './second-fence.ts'

/** The options of a backend's `open`, in addition to the policy. */
type OpenOptions = {
  /** The image that commands run in, for a backend that uses images. */
  readonly image: string | undefined
  /** Callbacks for the proxy that enforces a network allow-list, if the caller has any. */
  readonly network: NetworkOptions | undefined
  /**
   * Paths in the policy, each with the file system entry that must be there. If there is now a different entry or none, `path-changed` is thrown.
   */
  readonly wanted: readonly Place[]
}

/** The functions that a backend provides. */
export type BackendModule = {
  /** Opens the sandbox for a policy. Throws `SandboxError` `unavailable` if any part of the policy except a default limit can't be enforced here. */
  readonly open: (policy: SandboxPolicy, options: OpenOptions) => Promise<Sandbox>
  /**
   * Tests whether this backend can be used here, without relying on remembered results. Throws `SandboxError` `unavailable` if it can't.
   *
   * @returns the second fence around this backend's commands; undefined for a backend that knows none
   */
  readonly tryOut: () => Promise<SecondFence | undefined>
  /**
   * Returns a sentence for each default limit that this backend can't enforce here. `planned` contains the sentences about the limits that the plan
   * for this machine leaves unenforced. If this function is absent, exactly those sentences are reported.
   */
  readonly unenforced?: (planned: readonly string[]) => Promise<readonly string[]>
  /**
   * Kills the commands that a killed run left behind. The function is absent if commands of this
   * backend can't outlive their run.
   */
  readonly endLeftovers?: () => Promise<void>
}
