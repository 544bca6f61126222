import { dirname, join } from 'node:path'
import process from 'node:process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from '../host-paths.ts'
import { ownerName, isOwnerGone } from '../run-owner.ts'

/** A place in which control groups can be created, with the version of its interface. */
export type Hierarchy =
  | { readonly version: 1; readonly memory: string; readonly pids: string }
  | { readonly version: 2; readonly parent: string }

/** The kernel's counts for a group since the group was created. */
export type GroupCounts = { readonly killedForMemory: number; readonly forksRefused: number }

/** A control group for the processes of one command. */
export type ControlGroup = {
  /** Files that add a process to the group when the process writes `0` to each of them. */
  readonly joinFiles: readonly string[]
  counts(): GroupCounts
  /** Removes the group, which is possible only when no process is in it. */
  remove(): void
}

type GroupLimits = { readonly processes: number; readonly memoryBytes: number }

const prefix = 'portcullis-group-'
let made = 0

/**
 * Finds where this process may create control groups that limit memory and processes, by creating one. Returns undefined if it may create none, as in
 * most containers, or for an ordinary user to whom no group is delegated. Also removes the groups that killed runs have left.
 */
export function findHierarchy(mountInfo?: string, membership?: string): Hierarchy | undefined {
  const found = makeFirstGroup({ processes: 64, memoryBytes: 64 * 1024 * 1024 }, mountInfo, membership)
  found?.group.remove()
  return found?.hierarchy
}

/** Like `findHierarchy`, but also returns the group that was created, for callers that need one immediately. */
export function makeFirstGroup(
  limits: GroupLimits,
  mountInfo: string = read('/proc/self/mountinfo'),
  membership: string = read('/proc/self/cgroup'),
): { readonly hierarchy: Hierarchy; readonly group: ControlGroup } | undefined {
  for (const hierarchy of candidates(mountInfo, membership)) {
    try {
      reap(hierarchy)
      return { hierarchy, group: makeGroup(hierarchy, limits) }
    } catch {
      // No group can be created here (the directory is read-only, not delegated, or lacks these controllers), but perhaps in a parent group.
    }
  }
  return undefined
}

/** Creates a group and sets its limits. Throws the kernel's error if that fails. */
export function makeGroup(hierarchy: Hierarchy, limits: GroupLimits): ControlGroup {
  made += 1
  const name = `${prefix}${ownerName(process.pid)}-${made}`
  switch (hierarchy.version) {
    case 1: {
      const memory = join(hierarchy.memory, name)
      const pids = join(hierarchy.pids, name)
      mkdirSync(memory)
      mkdirSync(pids)
      writeFileSync(join(memory, 'memory.limit_in_bytes'), `${limits.memoryBytes}`)
      // Without this limit, a command that has used up its memory would go on and use swap. Kernels without swap accounting have no such file.
      const withSwap = join(memory, 'memory.memsw.limit_in_bytes')
      if (existsSync(withSwap)) writeFileSync(withSwap, `${limits.memoryBytes}`)
      writeFileSync(join(pids, 'pids.max'), `${limits.processes}`)
      return {
        // Writing to `tasks` moves only one thread. A shell has no other, and moving a whole process would stop all processors for a moment.
        joinFiles: [join(memory, 'tasks'), join(pids, 'tasks')],
        counts: () => countsIn({ version: 1, memory, pids }),
        remove: () => [memory, pids].forEach(remove),
      }
    }
    case 2: {
      const group = join(hierarchy.parent, name)
      mkdirSync(group)
      writeFileSync(join(group, 'memory.max'), `${limits.memoryBytes}`)
      if (existsSync(join(group, 'memory.swap.max'))) writeFileSync(join(group, 'memory.swap.max'), '0')
      writeFileSync(join(group, 'pids.max'), `${limits.processes}`)
      return {
        joinFiles: [join(group, 'cgroup.procs')],
        counts: () => countsIn({ version: 2, parent: group }),
        remove: () => remove(group),
      }
    }
    default:
      return hierarchy satisfies never
  }
}

/**
 * Returns a function that reads the kernel's counts for the groups of a process that another program started, such as a container; undefined if these
 * groups can't be seen from here, for example because the process runs on a different machine.
 *
 * @param mark a text that the groups' names must contain, so that an unrelated process with the same pid on this machine isn't mistaken for it
 */
export function countsOfProcess(
  pid: number,
  mark: string,
  mountInfo: string = read('/proc/self/mountinfo'),
  membership: string = read(`/proc/${pid}/cgroup`),
): (() => GroupCounts) | undefined {
  const isTheirs = (path: string, file: string): boolean => path.includes(mark) && existsSync(join(path, file))
  const group = groupsNamed(mountInfo, membership).find((each) =>
    each.version === 1
      ? isTheirs(each.memory, 'memory.oom_control') && isTheirs(each.pids, 'pids.events')
      : isTheirs(each.parent, 'memory.events') && isTheirs(each.parent, 'pids.events'),
  )
  return group === undefined ? undefined : () => countsIn(group)
}

/**
 * Returns a function that counts the threads, including those of zombies, that are now in the control group of a process that another program, such as
 * the container daemon, has started. Returns undefined if the group can't be seen from here. For the parameters, see `countsOfProcess`.
 */
export function populationOfProcess(pid: number, mark: string): (() => number) | undefined {
  const membership = read(`/proc/${pid}/cgroup`)
  const groups = groupsNamed(read('/proc/self/mountinfo'), membership)
  const files = groups.map((group) => join(group.version === 1 ? group.pids : group.parent, 'pids.current'))
  const file = files.find((path) => path.includes(mark) && existsSync(path))
  return file === undefined ? undefined : () => Number(read(file))
}

/** The kernel's counts for a group. A group is given by its directories. */
function countsIn(group: Hierarchy): GroupCounts {
  const [memory, pids, killed] =
    group.version === 1
      ? [group.memory, group.pids, 'memory.oom_control']
      : [group.parent, group.parent, 'memory.events']
  return {
    killedForMemory: field(join(memory, killed), 'oom_kill'),
    forksRefused: field(join(pids, 'pids.events'), 'max'),
  }
}

/** The groups in which to try to create a group, nearest first. */
function candidates(mountInfo: string, membership: string): readonly Hierarchy[] {
  return groupsNamed(mountInfo, membership).flatMap((group) =>
    group.version === 1 ? [group] : unifiedParents(group.top, group.parent),
  )
}

type Named = Extract<Hierarchy, { version: 1 }> | (Extract<Hierarchy, { version: 2 }> & { readonly top: string })

/**
 * The groups that contain a process, as paths below their mount points. In `/proc/PID/cgroup`, paths are relative to the root of the hierarchy
 * (cgroups(7)).
 */
function groupsNamed(mountInfo: string, membership: string): readonly Named[] {
  const mounts = mountInfo.split('\n').flatMap((line) => {
    const [before, after] = line.split(' - ')
    const [, , , root, point] = before?.split(' ') ?? []
    const [type, , options] = after?.split(' ') ?? []
    if (root === undefined || point === undefined || type === undefined) return []
    return [{ root, point, type, options: (options ?? '').split(',') }]
  })
  const own = (controller: string): string =>
    membership
      .split('\n')
      .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
      .find((match) => match?.[1]?.split(',').includes(controller))?.[2] ?? '/'
  const below = (point: string, root: string, path: string): string => {
    const rest = path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length) : root === '/' ? path : ''
    const directory = join(point, rest)
    return existsSync(directory) ? directory : point
  }
  const first = (controller: string): string | undefined => {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller))
    return mount === undefined ? undefined : below(mount.point, mount.root, own(controller))
  }
  const [memory, pids] = [first('memory'), first('pids')]
  const unified = mounts.find(({ type }) => type === 'cgroup2')
  return [
    ...(memory === undefined || pids === undefined ? [] : [{ version: 1, memory, pids } as const]),
    ...(unified === undefined
      ? []
      : [{ version: 2, top: unified.point, parent: below(unified.point, unified.root, own('')) } as const]),
  ]
}

/**
 * The groups to try with version 2 of control groups: the process's own group and the groups above it, provided that their child groups can have
 * limits on memory and processes. In a group that contains processes, they usually can't.
 */
function unifiedParents(top: string, own: string): readonly Hierarchy[] {
  const parents: Hierarchy[] = []
  for (let at = own; ; at = dirname(at)) {
    const enabled = read(join(at, 'cgroup.subtree_control')).split(/\s+/)
    if (enabled.includes('memory') && enabled.includes('pids')) parents.push({ version: 2, parent: at })
    if (at === top || at === '/') return parents
  }
}

function reap(hierarchy: Hierarchy): void {
  const parents = hierarchy.version === 1 ? [hierarchy.memory, hierarchy.pids] : [hierarchy.parent]
  for (const parent of parents) {
    for (const name of readdirSync(parent)) {
      if (name.startsWith(prefix) && isOwnerGone(name.slice(prefix.length))) remove(join(parent, name))
    }
  }
}

function remove(group: string): void {
  try {
    rmdirSync(group)
  } catch {
    // A process in the group has not completely ended yet. The next run removes the group.
  }
}

function field(file: string, name: string): number {
  const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(read(file))?.[1]
  return value === undefined ? 0 : Number(value)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The file doesn't exist on this system, or can't be read.
    return ''
  }
}
