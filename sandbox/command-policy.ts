import type { GuardedPlaces, PlaceFinder } from './git/guarded-places.ts'
import type { GitView, PrivateGit } from './git/private-git.ts'
import { hostSockets, placesToHide } from './host-sockets.ts'
import type { KeyFileView } from './key-file-view.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import { isWithin } from './paths.ts'
import type { ClosedTree } from './tree/closed-tree.ts'
import { allRunDirectories } from './run-directory.ts'
import { scratchBases } from './scratch.ts'
import type { Command } from './sandbox.ts'

/**
 * Returns the policy for one command in the host's current state: the sandbox's policy, extended to hide the paths that the command asks to hide
 * and, if commands may use unix sockets, the sockets of this machine's programs. If the command asks for read-only access, it can write only to the
 * temporary directory, and can't use unix sockets. A `danger-full-access` policy is returned unchanged, because it confines nothing.
 */
export function policyForCommand(given: SandboxPolicy, { readOnly, hidden = [] }: Command): SandboxPolicy {
  if (given.mode === 'danger-full-access') return given
  const policy = hidden.length === 0 ? given : { ...given, deniedReads: [...given.deniedReads, ...hidden] }
  if (readOnly !== true) return policy.unixSockets ? withoutHostSockets(policy) : policy
  // A read-only command gets no access to the docker daemon, because it could write through the daemon.
  const { dockerSocket: _, ...rest } = policy
  return { ...rest, unixSockets: false, mode: 'read-only' }
}

/** Hides the unix sockets on which programs of this machine listen. As with any denied file, a socket that is itself a root stays visible. */
function withoutHostSockets(policy: SandboxPolicy): SandboxPolicy {
  return { ...policy, deniedReads: [...policy.deniedReads, ...placesToHide(hostSockets())] }
}

/** The paths to guard, and the git files and directories of which commands see a different version than the host's. */
export type ShownPlaces = GuardedPlaces & {
  readonly git: GitView
  /** Protected paths outside the roots. Such a path matters because it may contain a symlink to a place inside a root. Default: none. */
  readonly protectedOutside?: readonly string[]
  /** What commands see of this machine besides the roots. Default: the whole machine. */
  readonly tree?: ClosedTree | undefined
  /** The directory in which what this command writes in caches is stored. If it is undefined, the command can only read them. */
  readonly layers?: string | undefined
}

/** `scratch`: where other runs may have their directories at the moment. Finding that out takes a fifth of the planning, so it is done once for each command. */
export type CommandPlaces = ShownPlaces & { readonly scratch: readonly string[] }

/**
 * Plans what one command sees, and which paths to guard while it runs. What exists when a command with write access
 * starts is guarded, if no other such command is running. A command that can't write needs no private repository for its commits.
 *
 * @param roots the paths that the policy lets commands write to, without symlinks
 * @param keyFiles returns what commands see in place of files that contain secrets; undefined if the backend can't mount files
 */
export function placesForCommand(
  command: Command,
  finder: PlaceFinder,
  privateGit: PrivateGit,
  running: { readonly writing: number },
  roots: readonly string[],
  keyFiles: (() => KeyFileView) | undefined = undefined,
): CommandPlaces {
  const settled = running.writing === 0
  const isSearched = settled && command.readOnly !== true
  const places = isSearched ? finder.find() : finder.known()
  const looked = roots.length > 0 && (isSearched || places.gitDirectories.length > 0)
  const view = privateGit.view(command, looked ? places.gitDirectories : undefined, settled)
  const keys = keyFiles?.() ?? { hidden: [], replaced: [] }
  const git = {
    ...view,
    hidden: [...view.hidden, ...keys.hidden],
    replaced: [...view.replaced, ...keys.replaced],
  }
  // The run directories of other runs are protected, because the files in them control what the commands of those runs can do.
  const scratch = scratchBases()
  const others = allRunDirectories(scratch, (place) => roots.some((root) => isWithin(place, root)))
  return others.length === 0
    ? { ...places, git, scratch }
    : { ...places, git, scratch, protectedPaths: [...places.protectedPaths, ...others] }
}
