import process from 'node:process'
import { SandboxError } from '../sandbox-error.ts'
import { connectDocker, type DaemonFacts, type DockerClient } from './client.ts'
import type { ContainerUser } from './container-user.ts'

/** How many milliseconds to wait for a daemon's answer. A busy daemon needs a moment, but a daemon that hangs never answers. */
const patienceMs = 5000

/**
 * Connects to a daemon that can enforce policies, and determines the user that commands run as in its containers. Throws `unavailable` if there is no
 * such daemon.
 */
export async function checkDaemon(): Promise<{ readonly docker: DockerClient; readonly identity: ContainerUser }> {
  if (process.env['DOCKER_HOST']?.startsWith('ssh:')) {
    throw refuse(
      "DOCKER_HOST names a daemon that is reached over ssh, and such a daemon can't mount the workspace",
      'Use a daemon on this machine, e.g. DOCKER_HOST=unix:///var/run/docker.sock.',
    )
  }
  const docker = await connectDocker()
  const address = process.env['DOCKER_HOST'] ?? 'the local socket'
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const reason = `the daemon at ${address} did not answer within ${patienceMs / 1000} seconds`
    late.reject(refuse(reason, 'Restart docker, or set DOCKER_HOST.'))
  }, patienceMs)
  const asked = docker.info().catch((error: unknown) => {
    throw refuse(`no daemon answers at ${address}`, 'Start docker, or set DOCKER_HOST.', error)
  })
  const info = await Promise.race([asked, late.promise]).finally(() => clearTimeout(timer))
  if (info.remapsUsers) {
    throw refuse(
      'the daemon remaps user ids, so files that commands create would belong to somebody else',
      'Use a daemon without userns-remap.',
    )
  }
  if (!info.limits)
    throw refuse(
      "the daemon can't limit memory and processes",
      'Enable the memory and process control groups on its host.',
    )
  return { docker, identity: identityFor(info) }
}

/**
 * The user that commands run as. A rootless daemon maps root in a container to the caller on the host, but podman can map the caller's own id to
 * itself instead. Other daemons use the same ids inside and outside containers.
 */
function identityFor({ rootless, podman }: DaemonFacts): ContainerUser {
  const own = `${process.geteuid?.() ?? 0}:${process.getegid?.() ?? 0}`
  if (!rootless) return { user: own }
  return podman ? { user: own, userns: 'keep-id' } : { user: '0:0' }
}

/** Checks that the daemon has the image. Throws `unavailable` if it doesn't: nothing is downloaded without the user's knowledge. */
export async function requireImage(docker: DockerClient, image: string | undefined): Promise<string> {
  if (image === undefined)
    throw refuse('no image is named', 'Name an image that contains /bin/sh and the tools that commands need.')
  if (!(await docker.hasImage(image))) throw refuse(`the image ${image} does not exist`, `Run: docker pull ${image}`)
  return image
}

function refuse(reason: string, remedy: string, cause?: unknown): SandboxError {
  return new SandboxError('unavailable', { backend: 'docker', reason, remedy }, { cause })
}
