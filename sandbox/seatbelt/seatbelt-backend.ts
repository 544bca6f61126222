import type { BackendModule } from '../backend-module.ts'
import { parsePolicy } from '../sandbox-policy.ts'
import { openSeatbelt } from './open-seatbelt.ts'
import { unenforcedOnMacOs } from './refuse.ts'

/** The backend that confines commands with macOS's sandbox-exec(1). */
export const seatbelt: BackendModule = {
  open: (policy) => openSeatbelt(policy),
  tryOut: async () => {
    const sandbox = await openSeatbelt(parsePolicy({ mode: 'read-only', workspace: '/' }))
    await sandbox.close()
  },
  unenforced: () => Promise.resolve(unenforcedOnMacOs),
}
