import type { BackendModule } from '../backend-module.ts'
import { connectDocker } from './client.ts'
import { checkDaemon } from './daemon.ts'
import { openDocker } from './open-docker.ts'
import { reapContainers } from './reap.ts'

/** Containers of an image. */
export const docker: BackendModule = {
  open: (policy, { image, network, wanted }) => openDocker(policy, image, network, wanted),
  tryOut: async () => {
    await checkDaemon()
  },
  endLeftovers: endContainers,
}

/** How long a daemon that doesn't answer may hold up a start, which perhaps has nothing to do with it. */
const patienceMs = 2000

/** A container may live a moment longer than its owner. */
async function endContainers(): Promise<void> {
  // Where no daemon answers any more, nothing of its commands can be ended, nor is it likely to run.
  const reaping = connectDocker()
    .then(reapContainers)
    .catch(() => undefined)
  await Promise.race([reaping, new Promise((resolve) => setTimeout(resolve, patienceMs))])
}
