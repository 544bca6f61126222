import type { FileSystemView } from '../file-system-view.ts'
import type { Mount } from '../mount.ts'

/**
 * The directories of `/sys` that commands see. In their files, language runtimes, compilers and tools look up the machine's processors
 * and memory (libc, lscpu, numactl), its limits (the JVM, Node, Go), and its page sizes.
 */
const shown: readonly string[] = ['/sys/devices/system', '/sys/fs/cgroup', '/sys/kernel/mm']

/**
 * Returns the mounts that show commands a part of `/sys`. All of `/sys` would reveal the host's serial numbers, its disks, and its network cards with
 * their addresses. A network namespace doesn't hide the cards: a sysfs shows the network interfaces of the process that mounted it (sysfs(5),
 * network_namespaces(7)).
 *
 * @returns mounts to add to a plan, outermost first; none if there is no `/sys`
 */
export function kernelView(host: FileSystemView): readonly Mount[] {
  if (host.kindOf('/sys') !== 'directory') return []
  const inside = shown.filter((path) => host.realPath(path) === path)
  return [{ path: '/sys', as: 'tmpfs' }, ...inside.map((path): Mount => ({ path, as: 'read-only' }))]
}
