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

/** How long an unresponsive daemon may delay a start that might not need it at all. */
const patienceMs = 2000

/** A container may outlive its owner by a moment. */
async function endContainers(): Promise<void> {
  // If no daemon answers, its commands can't be ended, but they probably aren't running.
  const reaping = connectDocker()
    .then(reapContainers)
    .catch(() => undefined)
  await Promise.race([reaping, new Promise((resolve) => setTimeout(resolve, patienceMs))])
}
