import process from 'node:process'
import type { BackendModule } from '../backend-module.ts'
import { tryFence } from '../helper/try-fence.ts'
import { nameFence } from '../second-fence.ts'
import { connectDocker } from './client.ts'
import { checkDaemon } from './daemon.ts'
import { openDocker } from './open-docker.ts'
import { reapContainers } from './reap.ts'

/** The backend that runs commands in containers, which are created from an image. */
export const docker: BackendModule = {
  open: (policy, { image, network, wanted }) => openDocker(policy, image, network, wanted),
  tryOut: async () => {
    await checkDaemon()
    // Only a daemon of this machine can mount its directories, so containers have this machine's kernel. On macOS, they have none that is known.
    return process.platform === 'linux' ? nameFence(await tryFence()) : 'none'
  },
  endLeftovers: endContainers,
}

/** How many milliseconds an unresponsive daemon may delay the start of a run. The run might not need docker at all. */
const patienceMs = 2000

/** Removes the containers of runs that were killed, because such a run couldn't remove them itself. */
async function endContainers(): Promise<void> {
  // If no daemon answers, running containers can't be killed, but there are probably none.
  const reaping = connectDocker()
    .then(reapContainers)
    .catch(() => undefined)
  await Promise.race([reaping, new Promise((resolve) => setTimeout(resolve, patienceMs))])
}
