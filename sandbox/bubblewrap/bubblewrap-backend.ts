import type { BackendModule } from '../backend-module.ts'
import { showEnclosing } from '../tree/enclosing-repository.ts'
import { openBubblewrap } from './open-bubblewrap.ts'
import { nameFence } from '../second-fence.ts'
import { forgetProbe, probeBubblewrap, requireBubblewrap, unenforcedBy } from './probe.ts'

/** The backend that starts commands with bwrap(1), and confines them with Linux namespaces and mounts. */
export const bubblewrap: BackendModule = {
  open: (policy, { network, wanted }) => openBubblewrap(showEnclosing(policy), network, wanted),
  tryOut: async () => {
    forgetProbe()
    const { fence } = await requireBubblewrap()
    return nameFence(fence)
  },
  unenforced: async (planned) => {
    const probe = await probeBubblewrap()
    return probe.works ? [...planned, ...unenforcedBy(probe.bubblewrap)] : planned
  },
}
