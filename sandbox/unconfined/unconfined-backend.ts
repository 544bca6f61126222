import type { BackendModule } from '../backend-module.ts'
import { openUnconfined } from './open-unconfined.ts'

/** The backend that runs commands with the caller's own rights, without confining them. */
export const unconfined: BackendModule = {
  open: (policy) => openUnconfined(policy, 'unconfined'),
  tryOut: () => Promise.resolve(undefined),
}

/** The backend for a user who states that an external sandbox confines the commands: it runs them with the caller's own rights. */
export const external: BackendModule = {
  open: (policy) => openUnconfined(policy, 'external'),
  tryOut: () => Promise.resolve(undefined),
}
