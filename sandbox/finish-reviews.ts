import { existsSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { finishReview } from './git/guard.ts'
import { readTrustRecord } from './git/trust-record.ts'
import { backendNames } from './backend.ts'
import { endLeftRunning } from './left-running.ts'
import { loadBackend } from './load-backend.ts'
import { reapRunDirectories } from './run-directory.ts'
import type { Denial } from './sandbox.ts'

/**
 * Finishes the reviews of runs that were killed during a command. Files that a command planted for the host to execute are moved to quarantine, and a
 * denial is returned for each of them. Then the runs' directories are removed. Call this before any program on the host reads a tree that commands
 * have changed; `openSandbox` calls it itself. Throws `unreviewed` if a review can't be finished.
 *
 * @example for (const denial of await finishReviews()) console.warn(renderDenial(denial))
 */
export async function finishReviews(): Promise<readonly Denial[]> {
  const found: Denial[] = []
  await reapRunDirectories(async (directory) => {
    await endLeftRunning(directory)
    try {
      const record = readTrustRecord(directory)
      if (record === undefined) return
      const backend = backendNames().find((name) => name === record.backend)
      if (backend !== undefined) await (await loadBackend(backend)).endLeftovers?.()
      found.push(...finishReview(record.trust))
    } catch (error) {
      // The directory is gone: another process has already finished this review.
      if (!existsSync(directory)) return
      const detail = error instanceof Error ? error.message : String(error)
      throw new SandboxError('unreviewed', { directory, detail }, { cause: error })
    }
  })
  return found
}
