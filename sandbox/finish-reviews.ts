import { existsSync } from 'node:fs'
import { SandboxError } from './sandbox-error.ts'
import { finishReview } from './git/guard.ts'
import { readTrustRecord } from './git/trust-record.ts'
import { backendNames } from './backend.ts'
import { endLeftRunning } from './left-running.ts'
import { loadBackend } from './load-backend.ts'
import { reapRunDirectories } from './run-directory.ts'
import type { Denial } from './sandbox.ts'

/**
 * Finishes what runs left that were killed in the middle of a command: what that had planted for the host to execute goes to
 * quarantine, and is returned; then their directories are removed. To be called before any program of the host looks at a tree that
 * commands have worked in; `openSandbox` does it by itself. Throws `unreviewed`.
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
      // Another start has been quicker.
      if (!existsSync(directory)) return
      const detail = error instanceof Error ? error.message : String(error)
      throw new SandboxError('unreviewed', { directory, detail }, { cause: error })
    }
  })
  return found
}
