import { openSandbox, parsePolicy, type Backend, type Sandbox } from '../../sandbox/index.ts'
import { recover } from '../../apply-patch/index.ts'
import { readRecord, type ChangeRecord } from './change-record.ts'
import { readViewState, reopenView } from './private-view.ts'
import { recordChanges } from './record-changes.ts'

/**
 * What a session's runs changed in its view. Where the last of them was killed, so that nobody has looked, it is found out now.
 *
 * @returns undefined for a session without a view, or whose changes were thrown away
 * @throws SandboxError where it takes a look and no sandbox for git can be opened
 */
export async function changesOfSession(
  directory: string,
  options: { readonly backend?: Backend | undefined; readonly image?: string | undefined } = {},
): Promise<ChangeRecord | undefined> {
  const state = readViewState(directory)
  if (state === undefined || state.state === 'discarded') return undefined
  const known = readRecord(directory)
  const view = reopenView(directory)
  if (view === undefined || (known !== undefined && state.gathered)) return known
  for (const { source } of view.views) await recover({ root: source })
  const sandbox: Sandbox = await openSandbox(
    parsePolicy({ mode: 'read-only', workspace: view.views[0]?.path, views: [...view.views] }),
    options,
  )
  try {
    return await recordChanges(view, sandbox, false)
  } finally {
    await sandbox.close()
  }
}
