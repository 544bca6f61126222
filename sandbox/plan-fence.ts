import type { FileSystemView } from './file-system-view.ts'
import type { Fence, FenceRoot } from './helper/fence.ts'
import type { Identity } from './helper/steps.ts'
import { lstatSync } from './host-paths.ts'
import type { Mount } from './mount.ts'
import { isWithin } from './paths.ts'
import { writableFiles, writableRoots } from './roots.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { ClosedTree } from './tree/closed-tree.ts'
import { shownPath } from './views/view-paths.ts'

/** Kinds of access to files (linux/landlock.h) that write. */
const access = {
  writeFile: 1 << 1,
  removeDirectory: 1 << 4,
  removeFile: 1 << 5,
  makeCharacterDevice: 1 << 6,
  makeDirectory: 1 << 7,
  makeFile: 1 << 8,
  makeSocket: 1 << 9,
  makePipe: 1 << 10,
  makeBlockDevice: 1 << 11,
  makeSymlink: 1 << 12,
  /** Links and moves between directories. */
  refer: 1 << 13,
  truncate: 1 << 14,
  /** Requests to device drivers (ioctl(2)). */
  controlDevice: 1 << 15,
} as const

const everyWrite = Object.values(access).reduce((sum, each) => sum | each, 0)
const useDevice = access.writeFile | access.controlDevice

/** Abstract unix sockets and signals of processes outside the fence. */
const everyScope = 1 | 2

/** The devices that commands may write to. Each sandbox has its own terminals. */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'pts'].map((name): FenceRoot => ({
  path: `/dev/${name}`,
  accesses: useDevice,
}))

/** What the fence depends on besides the policy: the entries that must be at the paths of roots, and the run's own directories. */
type Fenced = {
  readonly held: { readonly identityOf: (path: string) => Identity | undefined }
  readonly run: { readonly path: string; readonly temp: string }
  /** The home directories in place of which commands see a directory of the run's own, and the caches over which they see one. Default: none. */
  readonly tree?: Pick<ClosedTree, 'homes' | 'caches'> | undefined
}

/**
 * Plans the second fence around a command (landlock(7)): whatever is mounted, the kernel refuses to write outside the policy's roots and outside what
 * belongs to the run. It is derived from the policy and never from the plan of mounts, so that a mistake there is not made twice; each root is
 * identified as the entry that the policy named. The fence knows directories and what is mounted below them: it doesn't notice that something which
 * should be read-only below a root is not. Landlock has no rights for modes, owners, times and extended attributes.
 *
 * @param git the mounts of the run's private git directories. Those that aren't stored in the run's own directory are ignored
 */
export function planFence(
  policy: SandboxPolicy,
  { held, run, tree }: Fenced,
  git: readonly Mount[],
  host: FileSystemView,
): Fence {
  // The access to a root includes the roots and files below it.
  const all = writableRoots(policy, host)
  const isBelow = (path: string): boolean => all.some((root) => root !== path && isWithin(path, root))
  const roots = all.filter((root) => !isBelow(root))
  const files = writableFiles(policy, host).filter((file) => !isBelow(file))
  const identify = (path: string): Identity | undefined => {
    const known = held.identityOf(path)
    if (known !== undefined) return known
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? undefined : { device: stat.dev, inode: stat.ino }
  }
  const isLayered = (path: string): boolean =>
    policy.views.some(({ over, source }) => over !== undefined && isWithin(path, source))
  const allow = (path: string, stored: string, accesses: number): readonly FenceRoot[] => {
    // An overlay has other numbers than the directories of which it consists.
    if (path === stored && isLayered(path)) return [{ path: shownPath(path, policy.views), accesses }]
    const identity = identify(stored)
    return identity === undefined ? [] : [{ path: shownPath(path, policy.views), accesses, identity }]
  }
  const ofRun = git.filter(({ source, as }) => as === 'writable' && source !== undefined && isWithin(source, run.path))
  const temporary = host.realPath('/tmp') ?? '/tmp'
  const shown = [policy.workspace, ...policy.readableRoots, ...all].map((path) => shownPath(path, policy.views))
  const own = ofRun.filter(({ path }) => !roots.some((root) => isWithin(path, root)))
  // A root that is a bare repository is the private git directory itself.
  const storedAt = (root: string): string => ofRun.find(({ path }) => path === root)?.source ?? root
  return {
    handled: everyWrite,
    scoped: everyScope,
    roots: [
      ...roots.flatMap((path) => allow(path, storedAt(path), everyWrite)),
      ...files.flatMap((path) => allow(path, path, everyWrite)),
      ...own.flatMap(({ path, source = path }) => allow(path, source, everyWrite)),
      // If the policy shows the system's own directory, commands have no private one.
      ...(shown.includes(temporary) ? [] : allow(temporary, run.temp, everyWrite)),
      ...(tree?.homes ?? []).flatMap(({ path, source }) => allow(path, source, everyWrite)),
      ...(tree?.caches ?? []).map(({ path }) => ({ path, accesses: everyWrite })),
      { path: '/dev/shm', accesses: everyWrite },
      ...devices,
    ],
  }
}
