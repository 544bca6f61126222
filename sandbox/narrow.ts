import type { GuardedPlaces } from './git/guard.ts'
import type { SandboxPolicy } from './policy.ts'
import { runDirectoriesBelow } from './run-directory.ts'
import type { Command } from './sandbox.ts'

/**
 * The policy for one command: the sandbox's, or the same with nothing to write but its temporary directory where the command asks for
 * that. `danger-full-access` confines nothing, so there is nothing to narrow.
 */
export function policyFor(policy: SandboxPolicy, { readOnly }: Command): SandboxPolicy {
  if (readOnly !== true || policy.mode === 'danger-full-access') return policy
  // A daemon would write for it.
  const { dockerSocket: _, ...rest } = policy
  return { ...rest, mode: 'read-only' }
}

/**
 * What is guarded while a command runs. What is there when the first one begins that may write is the host's own; after that, what
 * appears may be a command's work. One that writes nothing can plant nothing, and needs no repository that a commit would write.
 *
 * @param roots what the policy lets commands write to, without symlinks
 */
export function placesFor(
  { readOnly }: Command,
  guard: { readonly trust: () => GuardedPlaces; readonly places: () => GuardedPlaces },
  running: { readonly writing: number },
  roots: readonly string[],
): GuardedPlaces {
  if (readOnly === true) return { ...guard.places(), repositories: [] }
  const places = running.writing === 0 ? guard.trust() : guard.places()
  // What other runs keep is theirs, and decides about their commands.
  return { ...places, protectedPaths: [...places.protectedPaths, ...runDirectoriesBelow(roots)] }
}
