import { dirname, join } from 'node:path'
import type { FileSystemView } from './file-system-view.ts'
import { isNested } from './nested-places.ts'
import { depth, isWithin } from './paths.ts'
import type { SandboxPolicy } from './policy.ts'
import type { GuardedPlaces } from './git/guard.ts'
import { deniedPlaces, writableFiles, writableRoots } from './roots.ts'
import { gitExecutables } from './protected-places.ts'

/** One step in building what the command sees, at a path without symlinks. */
export type Mount = {
  readonly path: string
  readonly as:
    | 'writable'
    | 'read-only'
    /** The run's own temporary directory. */
    | 'private'
    /** An empty directory in memory that later mounts may lie in; nobody can write to it afterwards. */
    | 'hollow'
    | 'empty-directory'
    | 'refused-file'
}

/** Directories of the host that are never shown: they hold sockets of services and other people's files. */
const hiddenPlaces = ['/run', '/tmp'] as const

/** Parts of `/run` without which a system's own programs or its name resolution don't work. */
const systemPlaces: readonly string[] = ['/run/current-system', '/run/booted-system', '/run/opengl-driver']
const resolverPlaces: readonly string[] = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager/resolv.conf']

/**
 * The mounts that make `policy` so, outermost first, over a read-only view of the whole host. What is not there now is not
 * mounted: nothing is ever created on the host to have something to cover.
 */
export function planMounts(policy: SandboxPolicy, places: GuardedPlaces, host: FileSystemView): readonly Mount[] {
  const byPath = new Map<string, Mount>()
  // A later rule about the same path replaces the earlier one, so the order of these is the order of precedence.
  const put = (path: string, as: Mount['as']): void => void byPath.set(path, { path, as })
  const roots = [...writableRoots(policy, host), ...places.repositories]

  for (const place of hiddenPlaces) {
    const real = host.realPath(place)
    if (real !== undefined) put(real, place === '/tmp' ? 'private' : 'hollow')
  }
  const shown = [
    ...systemPlaces,
    ...(policy.network.mode === 'full' ? resolverPlaces : []),
    ...policy.readableRoots,
    policy.workspace,
  ]
  for (const path of shown) {
    const real = host.realPath(path)
    if (real !== undefined) put(real, 'read-only')
  }
  for (const path of [...roots, ...writableFiles(policy, host)]) put(path, 'writable')
  const socket = policy.dockerSocket === undefined ? undefined : host.realPath(policy.dockerSocket)
  if (socket !== undefined) put(socket, 'read-only')
  const granted = new Set(byPath.keys())
  for (const path of deniedPlaces(policy, host)) {
    const real = host.realPath(path)
    // What was granted by its own name stays granted, and what lies in a hidden place can't be seen anyway.
    if (real === undefined || granted.has(real) || isHidden(nearest(real, byPath))) continue
    put(real, host.kindOf(real) === 'directory' ? 'empty-directory' : 'refused-file')
  }
  // Only where the command could write: a mount below a denied directory would show what that hides.
  const protect = (path: string): void => {
    if (nearest(path, byPath)?.as === 'writable') put(path, 'read-only')
  }
  for (const path of [...places.protectedPaths.filter((each) => !isNested(each)), ...places.gitLinks]) {
    const real = host.realPath(path)
    if (real !== undefined && !roots.includes(real)) protect(real)
  }
  for (const git of places.gitDirectories) {
    if (nearest(git, byPath)?.as !== 'writable') continue
    // A directory that is a mount point can't be renamed aside and replaced.
    put(git, 'writable')
    for (const name of gitExecutables) {
      const real = host.realPath(join(git, name))
      if (real !== undefined) protect(real)
    }
  }
  const mounts = [...byPath.values()].toSorted((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1))
  return mounts.map((mount) =>
    mount.as === 'empty-directory' && mounts.some(({ path }) => path !== mount.path && isWithin(path, mount.path))
      ? { ...mount, as: 'hollow' }
      : mount,
  )
}

/** The mount that decides what is at `path`: the innermost that holds it. */
function nearest(path: string, mounts: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let at = path; ; at = dirname(at)) {
    const mount = mounts.get(at)
    if (mount !== undefined || at === '/') return mount
  }
}

function isHidden(mount: Mount | undefined): boolean {
  return mount?.as === 'private' || mount?.as === 'hollow' || mount?.as === 'empty-directory'
}
