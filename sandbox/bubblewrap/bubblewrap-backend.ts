import type { BackendModule } from '../backend-module.ts'
import { unlimitedWatches } from '../limits/plan-limits.ts'
import { openBubblewrap, requireBubblewrap } from './open-bubblewrap.ts'
import { forgetProbe, probeBubblewrap } from './probe.ts'

/** The backend that starts commands with bwrap(1), and confines them with Linux namespaces and mounts. */
export const bubblewrap: BackendModule = {
  open: (policy, { network, wanted }) => openBubblewrap(policy, network, wanted),
  tryOut: async () => {
    forgetProbe()
    await requireBubblewrap()
  },
  unenforced: async (planned) => {
    const probe = await probeBubblewrap()
    return probe.works && probe.bubblewrap.watches === undefined ? [...planned, unlimitedWatches] : planned
  },
}
