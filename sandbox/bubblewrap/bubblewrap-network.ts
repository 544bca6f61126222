import type { ChildProcess } from 'node:child_process'
import { Server } from 'node:net'
import { SandboxError } from '../sandbox-error.ts'
import { channelDescriptor, listenerFailed, listenFirst } from '../network/inside.ts'
import type { NetworkOptions } from '../network/proxy.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { helperInside } from './arguments.ts'

/** What one command needs in order to use the network. Without an allow-list, every list is empty, and the functions do nothing. */
type CommandNetwork = {
  /** Arguments to put before the command's own arguments, inside the sandbox. */
  readonly inside: readonly string[]
  /** The values of the `stdio` option of `spawn` for the child's descriptors after the first seven. */
  readonly stdio: readonly 'ipc'[]
  /** The descriptors that the sandbox's first program leaves open for the helper that opens the port. */
  readonly kept: readonly number[]
  /** Starts serving the port as soon as the child has sent the port's socket. */
  follow(child: ChildProcess): void
  /**
   * Closes all connections and returns the denials. `complaint` is the end of the command's error output. Throws `setup-failed` if `complaint` shows
   * that the command never started because the proxy's port couldn't be opened.
   */
  end(complaint: string): readonly Denial[]
}

const nothing: CommandNetwork = {
  inside: [],
  stdio: [],
  kept: [],
  follow: () => undefined,
  end: () => [],
}

/** Prepares the network of a sandbox's commands. There is a proxy only if the policy has an allow-list. */
export async function prepareNetwork(
  policy: SandboxPolicy,
  options: NetworkOptions,
): Promise<{ readonly start: () => CommandNetwork }> {
  if (policy.network.mode !== 'allowlist') return { start: () => nothing }
  // The proxy is imported only when it is needed, because it loads Node's HTTP module.
  const { createProxy } = await import('../network/proxy.ts')
  const proxy = createProxy(policy.network.allow, options)
  return {
    start: () => {
      const session = proxy.startSession()
      let listening = false
      return {
        inside: listenFirst(helperInside),
        stdio: ['ipc'],
        kept: [channelDescriptor],
        follow: (child) => {
          child.on('message', (_message, handle) => {
            if (!(handle instanceof Server) || listening) return
            listening = true
            session.attach(handle)
            // The channel is closed because no further message is expected, and the command must not be able to use it.
            if (child.connected) child.disconnect()
          })
        },
        end: (complaint) => {
          const denials = session.end()
          if (!listening && complaint.includes(listenerFailed)) {
            throw new SandboxError('setup-failed', { backend: 'bubblewrap', detail: complaint.trim() })
          }
          return denials
        },
      }
    },
  }
}
