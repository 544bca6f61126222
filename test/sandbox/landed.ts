import { lockSession } from '../../engine/session/session-lock.ts'
import { land, type Landing } from '../../engine/transaction/land.ts'
import { makeView } from '../../engine/transaction/private-view.ts'
import { recordChanges } from '../../engine/transaction/record-changes.ts'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { run, temporaryDirectory, type Ran } from './helpers.ts'

/** Runs scripts, one after the other, on a view of a directory, and lands what they have changed. */
export async function runAndLand(
  workspace: string,
  ...scripts: readonly string[]
): Promise<{ readonly ran: readonly Ran[]; readonly landing: Landing }> {
  const { directory, release } = lockSession(await temporaryDirectory(), 'run')
  const view = await makeView(directory, [workspace], 'copy', '')
  const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace, views: view.views }))
  try {
    const ran: Ran[] = []
    for (const script of scripts) ran.push(await run(sandbox, script))
    return { ran, landing: await land(directory, await recordChanges(view, sandbox, true), { commits: true }) }
  } finally {
    await sandbox.close()
    release()
  }
}
