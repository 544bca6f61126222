import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { SandboxError } from './sandbox-error.ts'
import { decodeName } from './path-bytes.ts'
import type { SandboxPolicy } from './policy.ts'

/** What stands before a name in the kernel's list: address, references, protocol, flags, type, state and inode (proc(5)). */
const columns = /^\S+: \S+ \S+ \S+ \S+ \S+ +\S+ /

/**
 * The paths at which programs of this machine listen by unix socket now, as they named them when they began to. Sockets of other network namespaces
 * (containers), and such as were named by a path that isn't absolute, are not among them: the kernel doesn't say where these are.
 *
 * @param list the kernel's, one character for each byte
 */
export function hostSockets(list: string = readList()): readonly string[] {
  const paths = list.split('\n').flatMap((line) => {
    const header = columns.exec(line)
    const path = header === null ? '' : decodeName(line.slice(header[0].length))
    return isAbsolute(path) ? [path] : []
  })
  return [...new Set(paths)]
}

/**
 * Throws `unavailable` where commands were to open unix sockets in this machine's own network namespace: its services by abstract names, a
 * session bus for one, would be in their reach, and no mount hides these.
 */
export function refuseAbstractSockets(policy: SandboxPolicy): void {
  if (!policy.unixSockets || policy.network.mode !== 'full') return
  throw new SandboxError('unavailable', {
    backend: 'bubblewrap',
    reason:
      "unix sockets were asked for with the network full, where commands would reach this machine's abstract sockets",
    remedy: 'Name the hosts that commands need in an allow-list, or use the docker backend, or leave unixSockets out.',
  })
}

function readList(): string {
  try {
    return readFileSync('/proc/net/unix', 'latin1')
  } catch {
    // A kernel without unix sockets, or no Linux.
    return ''
  }
}
