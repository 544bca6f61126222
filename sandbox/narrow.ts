import type { GuardedPlaces } from './git/guard.ts'
import type { SandboxPolicy } from './policy.ts'
import type { Command } from './sandbox.ts'

/**
 * The policy for one command: the sandbox's, or the same with nothing to write but its temporary directory where the command asks for
 * that. `danger-full-access` confines nothing, so there is nothing to narrow.
 */
export function policyFor(policy: SandboxPolicy, { readOnly }: Command): SandboxPolicy {
  return readOnly === true && policy.mode === 'workspace-write' ? { ...policy, mode: 'read-only' } : policy
}

/** What is guarded during one command. One that writes nothing needs no repository that a commit would write. */
export function placesFor(places: GuardedPlaces, { readOnly }: Command): GuardedPlaces {
  return readOnly === true ? { ...places, repositories: [] } : places
}
