import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { SandboxError } from './sandbox-error.ts'
import { decodeName } from './path-bytes.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'

/** The fields before the name in the kernel's list: address, references, protocol, flags, type, state and inode (proc(5)). */
const columns = /^\S+: \S+ \S+ \S+ \S+ \S+ +\S+ /

/**
 * The paths of the unix sockets that this machine's programs listen on now, as named when they began to listen. Sockets of other network namespaces
 * (containers), and sockets named by a relative path, are missing: the kernel doesn't say where these are.
 *
 * @param list the kernel's list, one character for each byte
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
 * Throws `unavailable` if the policy lets commands open unix sockets in this machine's own network namespace. They could then reach its services by
 * abstract names, such as a session bus, and no mount hides these.
 */
export function refuseAbstractSockets(policy: SandboxPolicy): void {
  if (!policy.unixSockets || policy.network.mode !== 'full') return
  throw new SandboxError('unavailable', {
    backend: 'bubblewrap',
    reason:
      "the policy asks for unix sockets together with the network mode full, which would let commands connect to this machine's abstract sockets",
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
