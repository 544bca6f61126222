import { backendNames } from './backend.ts'
import { endLeftRunning } from './left-running.ts'
import { loadBackend } from './load-backend.ts'
import { reapRunDirectories } from './run-directory.ts'

/** Ends what the commands of killed runs have left running, and removes these runs' directories. */
export async function endLeftovers(): Promise<void> {
  let areEnded = false
  await reapRunDirectories(async (directory) => {
    await endLeftRunning(directory)
    if (areEnded) return
    areEnded = true
    for (const name of backendNames()) await (await loadBackend(name)).endLeftovers?.()
  })
}
