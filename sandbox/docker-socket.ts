import process from 'node:process'
import { statSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { Backend } from './backend.ts'

/**
 * The socket of the docker daemon that this machine's programs use. The path contains no symlinks, because they may be missing in a container. The
 * result is undefined if `DOCKER_HOST` names an address that isn't a unix socket.
 *
 * @example const dockerSocket = localDockerSocket() // for a policy's key of that name
 */
export function localDockerSocket(env: Readonly<NodeJS.ProcessEnv> = process.env): string | undefined {
  const named = env['DOCKER_HOST'] ?? ''
  if (named !== '' && !named.startsWith('unix:///')) return undefined
  const path = named === '' ? '/var/run/docker.sock' : named.slice('unix://'.length)
  return hostFileSystem.realPath(path) ?? path
}

/** Returns the group that owns a policy's docker socket; undefined if the policy has none. Throws `unavailable` if the path is not a socket. */
export function dockerSocketGroup({ dockerSocket }: SandboxPolicy, backend: Backend): number | undefined {
  if (dockerSocket === undefined) return undefined
  const found = statSync(dockerSocket, { throwIfNoEntry: false })
  if (found?.isSocket() === true) return found.gid
  throw new SandboxError('unavailable', {
    backend,
    reason: `the policy shows ${dockerSocket} to commands, but that is not a socket`,
    remedy:
      'Start docker, set DOCKER_HOST to the URL of its socket (unix://PATH), or leave the socket out of the policy.',
  })
}
