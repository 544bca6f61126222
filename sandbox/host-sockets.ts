import { isAbsolute } from 'node:path'
import process from 'node:process'
import { readFileSync, statSync } from './host-paths.ts'
import { SandboxError } from './sandbox-error.ts'
import { decodeName } from './path-bytes.ts'
import { ancestors } from './paths.ts'
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
 * The places to hide so that commands can't connect to the sockets at these paths. If root runs this program, its commands can't enter other users'
 * private directories, so nothing can be mounted in these for them, either. Of such a directory, the whole is hidden, because its owner may open it later.
 *
 * @internal
 */
export function placesToHide(paths: readonly string[]): readonly string[] {
  if (process.geteuid?.() !== 0) return paths
  const groups = new Set([process.getegid?.(), ...(process.getgroups?.() ?? [])])
  const canEnter = (directory: string): boolean => {
    const stats = statSync(directory, { throwIfNoEntry: false })
    if (stats?.isDirectory() !== true) return true
    const bit = stats.uid === 0 ? 0o100 : groups.has(stats.gid) ? 0o010 : 0o001
    return (stats.mode & bit) !== 0
  }
  const above = paths.map((path) => ancestors(path).toReversed())
  const closed = new Set([...new Set(above.flat())].filter((directory) => !canEnter(directory)))
  const places = paths.map((path, index) => above[index]?.find((directory) => closed.has(directory)) ?? path)
  return [...new Set(places)]
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
