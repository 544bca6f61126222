import { readFileSync, readlinkSync } from 'node:fs'

/**
 * A name for a live process that no later one can have: its pid namespace, its pid, and when it started. What outlives its
 * owner carries it, so that the next start can tell what nobody needs any more.
 */
export function ownerName(pid: number): string {
  return `${pidNamespace()}-${pid}-${startOf(pid)}`
}

/** Whether a name that begins with an owner's is one whose owner has ended. Unsure, as for another pid namespace, is no. */
export function isOwnerGone(name: string): boolean {
  const [, namespace, pid, start] = /^(\d+)-(\d+)-(\d+)(?:-|$)/.exec(name) ?? []
  if (pid === undefined || namespace !== pidNamespace()) return false
  return startOf(Number(pid)) !== start
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    // No procfs: one namespace for all.
    return '0'
  }
}

/** In the kernel's ticks (proc(5), stat field 22). `0` when there is no such process or no procfs. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field may hold spaces and parentheses, so count from its end.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    // Ended meanwhile, or a system without procfs.
    return '0'
  }
}
