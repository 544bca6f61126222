import { totalmem } from 'node:os'
import { SandboxError } from '../sandbox-error.ts'
import type { SandboxPolicy } from '../policy.ts'
import type { Backend } from '../backend.ts'

/** What there is here to enforce limits with. */
type LimitTools = {
  /** Control groups can be made for memory and processes. */
  readonly groups: boolean
  /** The limit on a user's processes counts those of the sandbox alone, and binds. It never binds root. */
  readonly processLimit: boolean
  /** Processor time can be rationed. */
  readonly cpus?: boolean
}

/** Which limit is enforced by what. Absent: not at all. */
export type LimitPlan = {
  /** For the control group of one command. */
  readonly group: { readonly processes: number; readonly memoryBytes: number } | undefined
  /** For each process by itself, set before the sandbox is made. */
  readonly each: { readonly fileSizeBytes: number; readonly openFiles: number; readonly dataBytes?: number }
  /** For the container of one command; undefined for all processors. */
  readonly cpus: number | undefined
  /** For the sandbox's user, set inside of it. */
  readonly processes: number | undefined
  /** Defaults that nothing here can enforce, as sentences. */
  readonly unenforced: readonly string[]
}

/** A default that a backend can't enforce, as a sentence. */
export const unlimitedWatches =
  'the number of inotify instances and watches is not limited: a command can use up those of the user'

const gibibyte = 1024 ** 3

/**
 * Decides how the policy's limits are enforced. A default that can't be is left out and named; one that was asked for is
 * refused with `unavailable`. The default for memory falls back from a group's sum to each process's own data, which counts nothing that is
 * shared and nothing of a second process: of use against an accident, and no limit that somebody could have asked for.
 */
export function planLimits(policy: SandboxPolicy, tools: LimitTools, backend: Backend): LimitPlan {
  const asked = policy.limits
  const processes = asked.processes ?? 1024
  const memoryBytes = asked.memoryBytes ?? Math.max(2 * gibibyte, Math.floor(totalmem() * 0.75))
  const each = { fileSizeBytes: asked.fileSizeBytes ?? 8 * gibibyte, openFiles: asked.openFiles ?? 16_384 }
  if (asked.cpus !== undefined && tools.cpus !== true) {
    throw new SandboxError('unavailable', {
      backend,
      reason: 'limits.cpus was asked for, and only containers have it',
      remedy: 'Use the docker backend, or leave limits.cpus out.',
    })
  }
  const { cpus } = asked
  if (tools.groups) return { group: { processes, memoryBytes }, each, cpus, processes: undefined, unenforced: [] }
  if (!tools.processLimit && asked.processes !== undefined) {
    throw new SandboxError('unavailable', {
      backend,
      reason: 'limits.processes needs a control group here, and none can be made',
      remedy: 'Run as root, or in a systemd session with delegated control groups, or leave limits.processes out.',
    })
  }
  if (asked.memoryBytes !== undefined) {
    throw new SandboxError('unavailable', {
      backend,
      reason:
        'limits.memoryBytes needs a control group here, and none can be made: without one a command can use any amount of shared memory, and any amount in several processes',
      remedy:
        'Run as root, or in a systemd session with delegated control groups, or use the docker backend, or leave limits.memoryBytes out: each process is kept to the default then.',
    })
  }
  return {
    group: undefined,
    each: { ...each, dataBytes: memoryBytes },
    cpus,
    processes: tools.processLimit ? processes : undefined,
    unenforced: [
      ...(tools.processLimit ? [] : ['the number of processes is not limited: no control group can be made here']),
      'memory is limited for each process, not for a command as a whole, and what is shared is not counted: no control group can be made here',
    ],
  }
}

/**
 * A shell script that limits itself and becomes the program in its arguments: `sh -c SCRIPT NAME PROGRAM ARGS…`. It joins the
 * groups by itself, since letting another process move it waits for all processors, which costs more than the whole sandbox.
 */
export function launchScript(plan: LimitPlan, joinFiles: readonly string[]): string {
  const { fileSizeBytes, openFiles, dataBytes } = plan.each
  return [
    ...joinFiles.map((file) => `echo 0 > ${quote(file)} || { echo "bwrap: can't join a control group" >&2; exit 1; }`),
    'ulimit -c 0',
    // POSIX counts files in blocks of 512 bytes, the others in KiB.
    `ulimit -f ${Math.ceil(fileSizeBytes / 512)}`,
    // An inherited hard limit that is lower already can't be raised, and needn't be.
    `ulimit -n ${openFiles} 2>/dev/null || :`,
    ...(dataBytes === undefined ? [] : [`ulimit -d ${Math.ceil(dataBytes / 1024)} 2>/dev/null || :`]),
    'exec "$@"',
  ].join('\n')
}

/** The same for the limit that must be set inside: shells disagree on its letter. */
export function insideScript(processes: number): string {
  return `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} || exit 126\nexec "$@"`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
