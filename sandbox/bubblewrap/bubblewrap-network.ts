import type { ChildProcess } from 'node:child_process'
import { Server } from 'node:net'
import { SandboxError } from '../sandbox-error.ts'
import { readHostFile } from '../host-files.ts'
import type { FastForward } from '../credentials/read-content.ts'
import { realpathSync } from '../host-paths.ts'
import type { Mount } from '../mount.ts'
import { hasNames, writeHosts } from '../network/hosts-file.ts'
import { channelDescriptor, listenerFailed, listenFirst, openPorts } from '../network/inside.ts'
import type { NetworkOptions } from '../network/proxy.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { helperInside } from './arguments.ts'

/** What one command needs in order to use the network. Without an allow-list, services and credentials, every list is empty, and the functions do nothing. */
type CommandNetwork = {
  /** Arguments to put before the command's own arguments, inside the sandbox. */
  readonly inside: readonly string[]
  /** The values of the `stdio` option of `spawn` for the child's descriptors after the first seven. */
  readonly stdio: readonly 'ipc'[]
  /** The descriptors that the sandbox's first program leaves open for the helper that opens the port. */
  readonly kept: readonly number[]
  /** Whether ordinary processes must be able to open ports below 1024. */
  readonly lowPorts: boolean
  /** Starts serving each port as soon as the child has sent the port's socket. */
  follow(child: ChildProcess): void
  /**
   * Closes all connections and returns the denials. `complaint` is the end of the command's error output. Throws `setup-failed` if `complaint` shows
   * that the command never started because a port couldn't be opened.
   */
  end(complaint: string): readonly Denial[]
}

const nothing: CommandNetwork = {
  inside: [],
  stdio: [],
  kept: [],
  lowPorts: false,
  follow: () => undefined,
  end: () => [],
}

/** Prepares the network of a sandbox's commands. There is a proxy only if the policy has something for it to do. Throws `unavailable` if names can't be shown. */
export async function prepareNetwork(
  policy: SandboxPolicy,
  options: NetworkOptions,
): Promise<{
  readonly start: (isFastForward?: FastForward) => CommandNetwork
  /** The mount with the names of services. Its file is written into `directory`, the sandbox's own. */
  readonly mounts: (directory: string) => readonly Mount[]
}> {
  const ports = openPorts(policy)
  const { services, credentials } = policy
  if (ports.length === 0) return { start: () => nothing, mounts: () => [] }
  const hosts = hasNames(policy) ? requireHosts() : undefined
  // The proxy is imported only when it is needed, because it loads Node's HTTP module.
  const { createProxy } = await import('../network/proxy.ts')
  const proxy = createProxy(
    policy.network.mode === 'allowlist' ? policy.network.allow : [],
    options,
    services,
    credentials,
  )
  return {
    mounts: (directory) =>
      hosts === undefined
        ? []
        : [
            {
              path: hosts,
              source: writeHosts(policy, `${readHostFile(hosts) ?? ''}`, directory),
              as: 'replaced-file',
            },
          ],
    start: (isFastForward) => {
      const session = proxy.startSession(isFastForward)
      let missing = ports.length
      return {
        inside: listenFirst(helperInside, ports),
        stdio: ['ipc'],
        kept: [channelDescriptor],
        lowPorts: ports.some((port) => port < 1024),
        follow: (child) => {
          child.on('message', (_message, handle) => {
            if (!(handle instanceof Server) || missing === 0) return
            missing -= 1
            session.attach(handle)
            // The channel is closed because no further message is expected, and the command must not be able to use it.
            if (missing === 0 && child.connected) child.disconnect()
          })
        },
        end: (complaint) => {
          const denials = session.end()
          if (missing > 0 && complaint.includes(listenerFailed)) {
            throw new SandboxError('setup-failed', { backend: 'bubblewrap', detail: complaint.trim() })
          }
          return denials
        },
      }
    },
  }
}

/** The hosts file of this machine, without symlinks. Commands see a file of their own in its place. */
function requireHosts(): string {
  try {
    return realpathSync('/etc/hosts')
  } catch (cause) {
    const reason = 'this machine has no /etc/hosts, in whose place commands would find the names of services'
    const remedy = 'Make that file, or leave out the names of services.'
    throw new SandboxError('unavailable', { backend: 'bubblewrap', reason, remedy }, { cause })
  }
}
