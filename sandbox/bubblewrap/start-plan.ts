import { encodeFence, type Fence } from '../helper/fence.ts'
import { encodePlan, list } from '../helper/plan.ts'
import { encodeSteps, type Step } from '../helper/steps.ts'
import { compileFilter } from '../seccomp/compile.ts'
import { filterRules, type SocketAccess } from '../seccomp/rules.ts'
import type { Architecture } from '../seccomp/syscalls.ts'
import type { WatchLimits } from './watch-limits.ts'

/** What the helper does after bwrap has started it and before the command starts. */
type Start = {
  /** Descriptors above 2 that stay open for the next program; all others are closed. */
  readonly kept: readonly number[]
  readonly identity: { readonly uid: number; readonly gid: number }
  /** The inotify limits; undefined if none can be set. */
  readonly watches: WatchLimits | undefined
  /** Whether commands may open ports below 1024, which otherwise only root can. Only for a network namespace of the sandbox's own. */
  readonly lowPorts: boolean
  /** Whether the command's standard input is the sandbox's own null device, rather than the descriptor that the caller passed. */
  readonly nullInput: boolean
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** The steps that turn the host's file system, as the caller sees it, into the file system that the command sees. */
  readonly steps: readonly Step[]
  readonly fence: Fence
  /** The version of the fence that the trial found (see `Bubblewrap`). If an older one is put up, nothing starts. */
  readonly fenceVersion: number
  readonly filter: SocketFilter
}

/** The sockets that the system call filter permits. Unix sockets are permitted separately. */
type SocketFilter = { readonly sockets: SocketAccess; readonly unixSockets: boolean }

/**
 * Encodes the plan by which the helper, as the first program inside a sandbox, mounts what the command may see, gives up every capability by entering
 * a user namespace of its own, closes descriptors that the caller left open, puts up the fence, installs the system call filter, and then replaces
 * itself with the command (`start.c`). bwrap starts it as root of the user namespace that owns the mounts, so that it can mount from descriptors. bwrap
 * itself can only mount from paths, which is unsafe: it resolves each path twice, and other commands may rename parts of the path in between.
 */
export function encodeStart(architecture: Architecture, start: Start): Buffer {
  const { uid, gid } = start.identity
  const { instances = '', watches = '' } = start.watches ?? {}
  return encodePlan([
    ...list(start.kept.toSorted((a, b) => a - b).map((descriptor) => [descriptor])),
    ...[`${uid} 0 1\n`, `${gid} 0 1\n`, `${instances}`, `${watches}`, start.lowPorts ? '0' : ''],
    start.nullInput ? 1 : 0,
    start.cwd,
    ...list(Object.entries(start.variables).map(([name, value]) => [`${name}=${value}`])),
    ...encodeSteps(start.steps),
    ...encodeFence(start.fence),
    start.fenceVersion,
    filterFor(architecture, start.filter),
  ])
}

/** The compiled filters. There are few different ones, and compiling one takes longer than encoding the rest of a plan. */
const filters = new Map<string, Uint8Array>()

function filterFor(architecture: Architecture, { sockets, unixSockets }: SocketFilter): Uint8Array {
  const key = `${architecture} ${sockets} ${unixSockets}`
  const filter = filters.get(key) ?? compileFilter(filterRules(sockets, unixSockets), architecture)
  filters.set(key, filter)
  return filter
}
