import type { BackendModule } from '../backend-module.ts'
import { openUnconfined } from './open-unconfined.ts'

/** The caller's own rights. */
export const unconfined: BackendModule = {
  open: (policy) => openUnconfined(policy, 'unconfined'),
  tryOut: () => Promise.resolve(),
}

/** The same, where somebody states that what is outside confines. */
export const external: BackendModule = {
  open: (policy) => openUnconfined(policy, 'external'),
  tryOut: () => Promise.resolve(),
}
