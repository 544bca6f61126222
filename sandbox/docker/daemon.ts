import process from 'node:process'
import { SandboxError } from '../errors.ts'
import { connectDocker, type DockerClient } from './client.ts'

/**
 * Connects to a daemon that can enforce policies, and says as whom commands have to run there so that files belong to the
 * caller. Throws `unavailable`.
 */
export async function checkDaemon(): Promise<{ readonly docker: DockerClient; readonly user: string }> {
  const docker = connectDocker()
  const info = await docker.info().catch((error: unknown) => {
    const address = process.env['DOCKER_HOST'] ?? 'the local socket'
    throw refuse(`no daemon answers at ${address}`, 'Start docker, or set DOCKER_HOST.', error)
  })
  if (info.remapsUsers) {
    throw refuse(
      'the daemon remaps user ids, so files would belong to somebody else',
      'Use a daemon without userns-remap.',
    )
  }
  if (!info.limits)
    throw refuse("the daemon can't limit memory and processes", 'Enable these control groups on its host.')
  // Root in a rootless container is the caller outside; elsewhere the caller's own number is.
  const user = info.rootless ? '0:0' : `${process.geteuid?.() ?? 0}:${process.getegid?.() ?? 0}`
  return { docker, user }
}

/** The image, which has to be there already: nothing is fetched behind the user's back. Throws `unavailable`. */
export async function requireImage(docker: DockerClient, image: string | undefined): Promise<string> {
  if (image === undefined) throw refuse('no image is named', 'Name one that has /bin/sh and the tools to be used.')
  if (!(await docker.hasImage(image))) throw refuse(`the image ${image} is not there`, `Run: docker pull ${image}`)
  return image
}

function refuse(reason: string, remedy: string, cause?: unknown): SandboxError {
  return new SandboxError('unavailable', { backend: 'docker', reason, remedy }, { cause })
}
