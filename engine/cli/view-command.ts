import { UserError } from '../core/user-error.ts'
import { reopenView } from '../transaction/stored-view.ts'
import { withLock } from './changed-session.ts'
import { findChangedSession, type NamedRun } from './find-session.ts'
import { startWhereMounted } from './look-where-mounted.ts'
import { runSandbox } from './sandbox-command.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import { sessionBeginning } from './session-beginning.ts'

/**
 * `agent view`: runs one command in the private view that a run has left, in the same way as `agent sandbox` does in the workspace. What the command changes
 * there becomes a part of the run's changes, which `agent changes` shows and `agent apply` lands.
 *
 * @returns as `runSandbox`
 * @throws UserError `usage` if the run has no view any more; also the errors of `runSandbox`
 */
export async function viewCommand(
  run: NamedRun,
  command: readonly string[],
  options: Omit<SandboxOptions, 'cd' | 'externallySandboxed'>,
): Promise<number> {
  if (options.sandbox === 'danger-full-access')
    throw new UserError('usage', 'agent view: only a sandbox can show a view: use -s workspace-write or -s read-only')
  return withLock(findChangedSession(run), 'work', async (session) => {
    const { id, directory, state } = session
    const view = reopenView(directory)
    if (view === undefined) {
      const why = state.state === 'discarded' ? 'its changes were discarded' : 'its changes have landed'
      throw new UserError('usage', `The session ${id} has no view any more: ${why}.`)
    }
    const unmounted = await startWhereMounted(session)
    if (unmounted !== undefined)
      throw new UserError('sandboxUnavailable', `The overlays of the run's view can't be mounted: ${unmounted}.`)
    const workspace = sessionBeginning(directory).workspace ?? view.views[0]?.path
    return runSandbox(
      command,
      { ...options, ...(workspace === undefined ? {} : { cd: workspace }) },
      { name: 'agent view', shown: { views: view.views, withheld: [directory] } },
    )
  })
}
