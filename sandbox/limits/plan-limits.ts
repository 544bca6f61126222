import { totalmem } from 'node:os'
import { SandboxError } from '../sandbox-error.ts'
import { quote } from '../shell.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Backend } from '../backend.ts'

/** The mechanisms that this machine has for enforcing limits. */
type LimitTools = {
  /** Whether control groups can be created for memory and processes. */
  readonly groups: boolean
  /** Whether the kernel's limit on a user's processes works, and counts only the processes in the sandbox. This limit never restricts root. */
  readonly processLimit: boolean
  /** Whether processor time can be limited. */
  readonly cpus?: boolean
}

/** The ways in which limits are enforced. A limit that is undefined in one field may still be enforced through another. */
export type LimitPlan = {
  /** Limits for the control group of a command. */
  readonly group: { readonly processes: number; readonly memoryBytes: number } | undefined
  /** Limits for each process, set before the sandbox is created. */
  readonly each: { readonly fileSizeBytes: number; readonly openFiles: number; readonly dataBytes?: number }
  /** The limit on processors for the container of one command; undefined for no limit. */
  readonly cpus: number | undefined
  /** The maximum number of processes of the user that commands run as, set inside the sandbox; undefined: no such limit. */
  readonly processes: number | undefined
  /** A sentence for each default limit that can't be enforced here. */
  readonly unenforced: readonly string[]
}

/** The sentence that a backend reports if it can't limit inotify instances and watches. */
export const unlimitedWatches =
  'the number of inotify instances and watches is not limited: a command can use up all inotify instances and watches of the user'

const gibibyte = 1024 ** 3

/**
 * Decides how the policy's limits are enforced. If a default limit can't be enforced, it is left out and reported. If a limit that the user set can't
 * be enforced, `unavailable` is thrown. Without a control group, the default memory limit applies to each process's own data, not to shared
 * memory or to all processes together. That helps against accidents, but isn't enough for a limit that the user set.
 */
export function planLimits(policy: SandboxPolicy, tools: LimitTools, backend: Backend): LimitPlan {
  const asked = policy.limits
  const processes = asked.processes ?? 1024
  const memoryBytes = asked.memoryBytes ?? Math.max(2 * gibibyte, Math.floor(totalmem() * 0.75))
  const each = { fileSizeBytes: asked.fileSizeBytes ?? 8 * gibibyte, openFiles: asked.openFiles ?? 16_384 }
  if (asked.cpus !== undefined && tools.cpus !== true) {
    throw new SandboxError('unavailable', {
      backend,
      reason: 'the policy sets limits.cpus, which only containers can enforce',
      remedy: 'Use the docker backend, or leave limits.cpus out.',
    })
  }
  const { cpus } = asked
  if (tools.groups) return { group: { processes, memoryBytes }, each, cpus, processes: undefined, unenforced: [] }
  if (!tools.processLimit && asked.processes !== undefined) {
    throw new SandboxError('unavailable', {
      backend,
      reason: 'limits.processes needs a control group here, but none can be created',
      remedy: 'Run as root, or in a systemd session with delegated control groups, or leave limits.processes out.',
    })
  }
  if (asked.memoryBytes !== undefined) {
    throw new SandboxError('unavailable', {
      backend,
      reason:
        'limits.memoryBytes needs a control group here, but none can be created: without one, a command can use any amount of shared memory, and its processes together can use any amount of memory',
      remedy:
        'Run as root, or in a systemd session with delegated control groups, or use the docker backend, or leave limits.memoryBytes out, so that the default limit applies to each process.',
    })
  }
  return {
    group: undefined,
    each: { ...each, dataBytes: memoryBytes },
    cpus,
    processes: tools.processLimit ? processes : undefined,
    unenforced: [
      ...(tools.processLimit ? [] : ['the number of processes is not limited: no control group can be created here']),
      'memory is limited for each process, not for a command as a whole, and shared memory is not counted: no control group can be created here',
    ],
  }
}

/**
 * A shell script that sets limits for itself and then replaces itself with the program in its arguments: `sh -c SCRIPT NAME PROGRAM ARGS…`. The shell
 * adds itself to the control groups, because moving a different process has to wait for all processors, which takes longer than starting the whole
 * sandbox.
 */
export function launchScript(plan: LimitPlan, joinFiles: readonly string[]): string {
  const { fileSizeBytes, openFiles, dataBytes } = plan.each
  return [
    ...joinFiles.map((file) => `echo 0 > ${quote(file)} || { echo "bwrap: can't join a control group" >&2; exit 1; }`),
    'ulimit -c 0',
    // `ulimit -f` expects a number of blocks of 512 bytes (POSIX), and `ulimit -d` a number of KiB.
    `ulimit -f ${Math.ceil(fileSizeBytes / 512)}`,
    // If a lower hard limit was inherited, it can't be raised, and doesn't need to be.
    `ulimit -n ${openFiles} 2>/dev/null || :`,
    ...(dataBytes === undefined ? [] : [`ulimit -d ${Math.ceil(dataBytes / 1024)} 2>/dev/null || :`]),
    'exec "$@"',
  ].join('\n')
}

/**
 * A shell script that sets the limit on processes and then replaces itself with the program in its arguments. It runs inside the sandbox, where this
 * limit must be set. It tries two options, because different shells use different letters for this limit.
 */
export function insideScript(processes: number): string {
  return `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} || exit 126\nexec "$@"`
}
