import { backendNames, openSandbox, parsePolicy, type Backend, type Sandbox } from '../../sandbox/index.ts'
import { recover } from '../../apply-patch/index.ts'
import { readDecidedBy } from './evidence/decided-by.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { readRecord, type ChangeRecord } from './change-record.ts'
import { isRecorded } from './left-in-view.ts'
import { recordChanges } from './record-changes.ts'
import { reopenView } from './stored-view.ts'
import { readViewState } from './view-state.ts'

/**
 * Returns the record of what a session's runs changed, if it is complete: nobody has worked in the view since the record was made. Nobody can do so now either,
 * because the session is locked.
 */
export async function completeRecord(directory: LockedFolder): Promise<ChangeRecord | undefined> {
  const [known, view] = [readRecord(directory), reopenView(directory)]
  return view === undefined || (known !== undefined && (await isRecorded(view, known))) ? known : undefined
}

/**
 * Returns what a session's runs changed in the view. If that isn't recorded completely, for example because the last run was killed, it is recorded now. For
 * this, a sandbox of the same kind as the run's is opened, because other kinds may be unavailable.
 *
 * @returns undefined if the session has no view, if its changes were discarded, or if none were recorded and the view can't be used any more
 * @throws SandboxError if the changes have to be recorded and no sandbox for git can be opened
 * @throws UserError `failed` if no space is left to record the changes
 */
export async function changesOfSession(directory: LockedFolder): Promise<ChangeRecord | undefined> {
  const state = readViewState(directory)
  if (state === undefined || state.state === 'discarded') return undefined
  const known = await completeRecord(directory)
  const view = reopenView(directory)
  if (view === undefined || known !== undefined) return known
  const { judged_by: judgedBy } = view.state
  for (const { source } of view.views) await recover({ root: source })
  const sandbox: Sandbox = await openSandbox(
    parsePolicy({
      mode: 'read-only',
      workspace: view.views[0]?.path,
      views: [...view.views],
      ...(judgedBy && { protectedPaths: judgedBy.protected_paths }),
    }),
    sandboxOfLastRun(directory),
  )
  try {
    return await recordChanges(view, sandbox)
  } finally {
    await sandbox.close()
  }
}

/** The kind of sandbox that the last run of a session had. `{}` means that it is unknown. */
export function sandboxOfLastRun(directory: string): { readonly backend?: Backend; readonly image?: string } {
  const { backend, image } = readDecidedBy(directory).at(-1)?.sandbox ?? {}
  const known = backendNames().find((name) => name === backend)
  return { ...(known && { backend: known }), ...(image === undefined ? {} : { image }) }
}
