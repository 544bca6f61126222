import { statSync } from 'node:fs'
import process from 'node:process'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import type { SandboxPolicy } from './policy.ts'
import type { Backend } from './backend.ts'

/**
 * The socket of the docker daemon that this machine's programs talk to, without symlinks, which a container may lack; undefined where
 * `DOCKER_HOST` names one that is no file.
 *
 * @example const dockerSocket = localDockerSocket() // for a policy's key of that name
 */
export function localDockerSocket(env: Readonly<NodeJS.ProcessEnv> = process.env): string | undefined {
  const named = env['DOCKER_HOST'] ?? ''
  if (named !== '' && !named.startsWith('unix:///')) return undefined
  const path = named === '' ? '/var/run/docker.sock' : named.slice('unix://'.length)
  return hostFileSystem.realPath(path) ?? path
}

/** The group that may talk to the socket of a policy; undefined for a policy without one. Throws `unavailable` where it is no socket. */
export function dockerSocketGroup({ dockerSocket }: SandboxPolicy, backend: Backend): number | undefined {
  if (dockerSocket === undefined) return undefined
  const found = statSync(dockerSocket, { throwIfNoEntry: false })
  if (found?.isSocket() === true) return found.gid
  throw new SandboxError('unavailable', {
    backend,
    reason: `${dockerSocket} was to be shown to commands, and it is no socket`,
    remedy: 'Start docker, set DOCKER_HOST to where its socket is, or leave the socket out.',
  })
}
