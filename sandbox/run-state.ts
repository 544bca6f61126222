import { realpathSync } from './host-paths.ts'
import type { Backend } from './backend.ts'
import { gitRewrites } from './credentials/git-rewrites.ts'
import { hostFileSystem } from './file-system-view.ts'
import { createPlaceFinder } from './git/guarded-places.ts'
import { packWith } from './git/pack.ts'
import { openPrivateGit } from './git/private-git.ts'
import type { Place } from './held-place.ts'
import { holdPlaces } from './held-places.ts'
import { ownPlaces } from './installation/own-paths.ts'
import { createKeyFileView } from './key-file-view.ts'
import { placesForCommand, type CommandPlaces, type ShownPlaces } from './command-policy.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import { RunningCommands } from './process/running-commands.ts'
import { outOfSight } from './tree/out-of-sight.ts'
import { createCacheLayers } from './tree/cache-layers.ts'
import { openClosedTree } from './tree/closed-tree.ts'
import { deniedBelow, pathsAndPatterns, protectedByRoots, writableRoots } from './roots.ts'
import { makeRunDirectory, removeRunDirectory } from './run-directory.ts'
import type { Command, Denial, Sandbox, SandboxProcess } from './sandbox.ts'

/** The state of an open sandbox whose backend uses mounts. */
export type RunState = {
  /** The policy, without denied places that commands can't see anyway. */
  readonly policy: SandboxPolicy
  /** The entries that were at the policy's paths when the sandbox was opened. */
  readonly held: ReturnType<typeof holdPlaces>
  /** The directories that commands may write to, as paths without symlinks. */
  readonly roots: readonly string[]
  readonly run: ReturnType<typeof makeRunDirectory>
  /** What commands see of this machine besides the roots; undefined if they see all of it, or only the roots. */
  readonly tree: ShownPlaces['tree']
  /** Takes a directory in which one command stores what it writes in caches; undefined if there are none. */
  readonly takeLayer: ReturnType<typeof createCacheLayers>
  /** The home directories in which commands can write to caches. */
  readonly homes: readonly string[]
  /** Whether a path of this machine isn't there for commands. */
  readonly isOutOfSight: (path: string) => boolean
  /** Whether nothing of this machine is there for commands at a path, nor below it; undefined if they see all of this machine, or none of it. */
  readonly hides: Sandbox['hides']
  readonly running: RunningCommands
  /**
   * Returns the paths to guard while a command runs, and the files and directories that the command sees differently from the host: those that git
   * uses, and files with secrets.
   */
  readonly placesOf: (command: Command) => CommandPlaces
  /**
   * Imports what commands have changed in git, and puts denied entries back that they have moved. It does nothing if no running command may write,
   * because then all changes are the host's own.
   */
  readonly takeOver: () => Promise<readonly Denial[]>
  /** Kills all running commands. */
  readonly endCommands: () => Promise<void>
  /** Closes all entries that are held open, and removes the run's directories. No command may run after that. */
  readonly close: () => Promise<void>
}

/**
 * Opens and holds the entries that a policy names, and creates the run's own directories. Throws `path-changed` if a path in `wanted` no longer has
 * the expected entry, and `unavailable` if there is no directory that is out of the commands' reach. In both cases, nothing stays held.
 *
 * @param start starts a command in the sandbox. It is used for one of our own programs, which reads files that commands have left behind
 * @param overlays whether overlays can be mounted over caches
 */
export function openRunState(
  given: SandboxPolicy,
  backend: Backend,
  wanted: readonly Place[],
  start: (command: Command) => SandboxProcess,
  overlays = false,
): RunState {
  const held = holdPlaces(given, backend, wanted)
  try {
    const roots = writableRoots(given, held.view)
    const run = makeRunDirectory(roots, backend)
    const workspace = realpathSync(given.workspace)
    const tree = backend === 'bubblewrap' && given.home === 'closed' ? openClosedTree(given, run.home) : undefined
    const granted = [
      ...[workspace, ...roots, ...given.readableRoots, ...given.writableFiles],
      ...given.views.map(({ path }) => path),
    ]
    const isOutOfSight = outOfSight(tree, granted)
    const visible = [...granted, ...(tree?.shown.map(({ path }) => path) ?? [])]
    const policy =
      tree === undefined ? given : { ...given, deniedReads: deniedInSight(given.deniedReads, isOutOfSight) }
    const { inside, outside } = protectedByRoots(roots, policy)
    const finder = createPlaceFinder(roots, [...inside, ...ownPlaces(roots)], policy.views)
    const running = new RunningCommands()
    // Git looks for untracked files also where nothing can be written.
    const seen = [...new Set([workspace, ...roots, ...policy.readableRoots])]
    const denied = (): ReturnType<typeof deniedBelow> => deniedBelow(policy, seen, held.view)
    const showsOwner = backend === 'bubblewrap'
    const privateGit = openPrivateGit({
      roots,
      workspace,
      directory: run.path,
      denied,
      showsOwner,
      views: policy.views,
      rewritten: gitRewrites(policy.credentials).map(([, beginning]) => beginning),
    })
    const keyFiles = createKeyFileView(run.path, [workspace, ...roots, ...policy.readableRoots])
    return {
      policy,
      held,
      roots,
      run,
      tree,
      takeLayer: createCacheLayers(run.home, overlays ? (tree?.caches.map(({ source }) => source) ?? []) : []),
      homes: overlays ? (tree?.homes.map(({ path }) => path) ?? []) : [],
      isOutOfSight,
      hides:
        tree === undefined
          ? undefined
          : (path) => isOutOfSight(path) && !visible.some((place) => isWithin(place, path)),
      running,
      placesOf: (command) => ({
        ...placesForCommand(command, finder, privateGit, running, roots, keyFiles),
        protectedOutside: outside,
        tree,
      }),
      takeOver: async () => {
        if (running.writing === 0) return []
        return [...(await privateGit.takeOver(packWith(start, policy.views))), ...held.putBack()]
      },
      endCommands: () => running.endAll(),
      close: async () => {
        privateGit.close()
        held.close()
        await removeRunDirectory(run.path)
      },
    }
  } catch (error) {
    held.close()
    throw error
  }
}

/** Leaves out denied places that don't exist where commands see nothing. Most places in the list belong to programs that a user doesn't have. */
function deniedInSight(denied: readonly string[], isOutOfSight: (path: string) => boolean): string[] {
  const { paths, patterns } = pathsAndPatterns(denied)
  const present = new Set(hostFileSystem.present(paths))
  return [...paths.filter((path) => present.has(path) || !isOutOfSight(path)), ...patterns]
}
