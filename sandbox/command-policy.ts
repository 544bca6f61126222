import type { GuardedPlaces } from './git/guard.ts'
import type { GitView, PrivateGit } from './git/private-git.ts'
import { hostSockets } from './host-sockets.ts'
import type { KeyFileView } from './key-file-view.ts'
import type { SandboxPolicy } from './policy.ts'
import { isWithin } from './paths.ts'
import { allRunDirectories } from './run-directory.ts'
import type { Command } from './sandbox.ts'

/**
 * The policy for one command, as the host is now: the sandbox's, or the same with nothing to write but its temporary directory where the command
 * asks for that. `danger-full-access` confines nothing, so there is nothing to narrow.
 */
export function policyForCommand(given: SandboxPolicy, { readOnly, hidden = [] }: Command): SandboxPolicy {
  if (given.mode === 'danger-full-access') return given
  const policy = hidden.length === 0 ? given : { ...given, deniedReads: [...given.deniedReads, ...hidden] }
  if (readOnly !== true) return policy.unixSockets ? withoutHostSockets(policy) : policy
  // A daemon would write for it.
  const { dockerSocket: _, ...rest } = policy
  return { ...rest, unixSockets: false, mode: 'read-only' }
}

/** Hides what this machine's programs listen at. One that a root names by itself stays in sight, as any denied file does. */
function withoutHostSockets(policy: SandboxPolicy): SandboxPolicy {
  return { ...policy, deniedReads: [...policy.deniedReads, ...hostSockets()] }
}

/** What is guarded, and what of git is shown otherwise than the host has it. */
export type ShownPlaces = GuardedPlaces & { readonly git: GitView }

/**
 * What is guarded while a command runs. What is there when the first one begins that may write is the host's own; after that, what
 * appears may be a command's work. One that writes nothing can plant nothing, and needs no repository that a commit would write.
 *
 * @param roots what the policy lets commands write to, without symlinks
 * @param keyFiles what of files with secrets is shown; undefined where nothing can be mounted
 * @param runDirectories the directories of all runs
 */
export function placesForCommand(
  command: Command,
  guard: { readonly trust: () => GuardedPlaces; readonly places: () => GuardedPlaces },
  privateGit: PrivateGit,
  running: { readonly writing: number },
  roots: readonly string[],
  keyFiles: (() => KeyFileView) | undefined = undefined,
  runDirectories: readonly string[] = allRunDirectories(),
): ShownPlaces {
  const settled = running.writing === 0
  const trusted = settled && command.readOnly !== true
  const places = trusted ? guard.trust() : guard.places()
  const looked = roots.length > 0 && (trusted || places.gitDirectories.length > 0)
  const view = privateGit.view(command, looked ? places.gitDirectories : undefined, settled)
  const keys = keyFiles?.() ?? { hidden: [], replaced: [] }
  const git = {
    ...view,
    hidden: [...view.hidden, ...keys.hidden],
    replaced: [...view.replaced, ...keys.replaced],
  }
  // What other runs keep is theirs, and decides about their commands.
  const others = runDirectories.filter((path) => roots.some((root) => isWithin(path, root)))
  return others.length === 0
    ? { ...places, git }
    : { ...places, git, protectedPaths: [...places.protectedPaths, ...others] }
}
