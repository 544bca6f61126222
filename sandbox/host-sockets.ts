import { isAbsolute } from 'node:path'
import { readFileSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { decodeName } from './path-bytes.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'

/** The fields that precede the name in the kernel's list: address, references, protocol, flags, type, state and inode (proc(5)). */
const columns = /^\S+: \S+ \S+ \S+ \S+ \S+ +\S+ /

/**
 * The paths to which programs of this machine have bound open unix sockets. The paths are spelled as the programs gave them to the kernel. Sockets in
 * other network namespaces (containers) and sockets with relative paths are missing, because the kernel's list doesn't show where they are.
 *
 * @param list the kernel's list of sockets, with one character for each byte
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
 * Throws `unavailable` if the policy lets commands open unix sockets in this machine's own network namespace. Commands could then reach services such
 * as a session bus by abstract names, which no mount can hide.
 */
export function refuseAbstractSockets(policy: SandboxPolicy): void {
  if (!policy.unixSockets || policy.network.mode !== 'full') return
  throw new SandboxError('unavailable', {
    backend: 'bubblewrap',
    reason:
      "the policy asks for unix sockets together with full network access, which would let commands connect to this machine's abstract sockets",
    remedy: 'Use an allow-list of the hosts that commands need, use the docker backend, or leave unixSockets out.',
  })
}

function readList(): string {
  try {
    return readFileSync('/proc/net/unix', 'latin1')
  } catch {
    // The kernel has no unix sockets, or isn't Linux.
    return ''
  }
}
