import { realpathSync } from './host-paths.ts'
import type { Backend } from './backend.ts'
import { createMetadataGuard } from './git/guard.ts'
import { packWith } from './git/pack.ts'
import { openPrivateGit } from './git/private-git.ts'
import { createTrustRecord } from './git/trust-record.ts'
import type { Place } from './held-place.ts'
import { holdPlaces } from './held-places.ts'
import { holdInstallation } from './installation/hold-installation.ts'
import { createKeyFileView } from './key-file-view.ts'
import { placesForCommand, type ShownPlaces } from './command-policy.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import { RunningCommands } from './process/running-commands.ts'
import { deniedBelow, protectedByRoots, writableRoots } from './roots.ts'
import { makeRunDirectory, removeRunDirectory } from './run-directory.ts'
import type { Command, Denial, SandboxProcess } from './sandbox.ts'

/** The state of an open sandbox whose backend uses mounts. */
export type RunState = {
  /** The entries that were at the policy's paths when the sandbox was opened. */
  readonly held: ReturnType<typeof holdPlaces>
  /** The directories that commands may write to, as paths without symlinks. */
  readonly roots: readonly string[]
  readonly run: ReturnType<typeof makeRunDirectory>
  readonly running: RunningCommands
  /**
   * Returns the paths to guard while a command runs, and the files and directories that the command sees differently from the host: those that git
   * uses, and files with secrets.
   */
  readonly placesOf: (command: Command) => ShownPlaces
  /**
   * Reviews the commands' changes: imports some of them, and reverts others. It does nothing if no running command may write, because then all
   * changes are the host's own.
   *
   * @param ended whether a command that may write has just ended. It may have been the last one that was running
   */
  readonly review: (ended: boolean) => Promise<readonly Denial[]>
  /**
   * Records that there is nothing to review. Call this after the sandbox has been tested at start-up: the test ran no command of the user or the
   * model, so its changes count as trusted.
   */
  readonly rest: () => void
  /** Kills all running commands, and reverts the changes that commands made to this program's own files. */
  readonly endCommands: () => Promise<void>
  /** Closes all entries that are held open, and removes the run's directories. No command may run after that. */
  readonly close: () => Promise<void>
}

/**
 * Opens and holds the entries that a policy names, and creates the run's own directories. Throws `path-changed` if a path in `wanted` no longer has
 * the expected entry, and `unavailable` if there is no directory that is out of the commands' reach. In both cases, nothing stays held.
 *
 * @param start starts a command in the sandbox. It is used for one of our own programs, which reads files that commands have left behind
 */
export function openRunState(
  policy: SandboxPolicy,
  backend: Backend,
  wanted: readonly Place[],
  start: (command: Command) => SandboxProcess,
): RunState {
  const held = holdPlaces(policy, backend, wanted)
  try {
    const roots = writableRoots(policy, held.view)
    const run = makeRunDirectory(roots, backend)
    const { inside, outside } = protectedByRoots(roots, policy)
    const guard = createMetadataGuard(roots, inside, createTrustRecord(run.path, backend), policy.views)
    const installation = holdInstallation(roots)
    const running = new RunningCommands(guard.rest)
    const workspace = realpathSync(policy.workspace)
    const denied = (): ReturnType<typeof deniedBelow> => deniedBelow(policy, roots, held.view)
    const showsOwner = backend === 'bubblewrap'
    const privateGit = openPrivateGit({
      roots,
      workspace,
      directory: run.path,
      denied,
      showsOwner,
      views: policy.views,
    })
    const keyFiles = createKeyFileView(run.path, [workspace, ...roots])
    return {
      held,
      roots,
      run,
      running,
      placesOf: (command) => ({
        ...placesForCommand(command, guard, privateGit, running, roots, keyFiles),
        protectedOutside: outside,
      }),
      review: async (ended) => {
        if (running.writing === 0) return []
        const refused = await privateGit.takeOver(packWith(start, policy.views))
        const ours = installation.putBack(ended && running.writing === 1)
        return [...refused, ...guard.review(), ...held.putBack(), ...ours]
      },
      rest: guard.rest,
      endCommands: async () => {
        await running.endAll()
        installation.putBack(true)
      },
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
