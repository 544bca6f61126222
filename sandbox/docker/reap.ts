import { isOwnerGone } from '../run-owner.ts'
import type { DockerClient } from './client.ts'
import { ownerLabel } from './plan-container.ts'

/** Removes the containers whose owner was killed before it could remove them. Containers of running owners stay. */
export async function reapContainers(docker: DockerClient): Promise<void> {
  const left = (await docker.owned(ownerLabel)).filter(({ owner }) => isOwnerGone(owner))
  await Promise.all(left.map(({ id }) => docker.remove(id)))
}
