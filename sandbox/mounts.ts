import { dirname, join } from 'node:path'
import type { FileSystemView } from './file-system-view.ts'
import type { Mount } from './mount.ts'
import { isNested } from './nested-places.ts'
import { memoize } from './memoize.ts'
import { ancestors, depth, isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { ShownPlaces } from './command-policy.ts'
import { deniedPlaces, writableFiles, writableRoots } from './roots.ts'

/** Directories of the host that are hidden, except for granted places in them, because they contain sockets of services and files of other users. */
const hiddenPlaces = ['/run', '/tmp'] as const

/** Parts of `/run` that the system's own programs need. `resolverPlaces` lists the parts that name resolution needs. */
const systemPlaces: readonly string[] = ['/run/current-system', '/run/booted-system', '/run/opengl-driver']
const resolverPlaces: readonly string[] = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager/resolv.conf']

/**
 * The mounts that enforce `policy` over a read-only view of the whole host, outermost first. A path that doesn't exist now gets no mount, because
 * nothing is created on the host just to mount something over it.
 */
export function planMounts(policy: SandboxPolicy, places: ShownPlaces, host: FileSystemView): readonly Mount[] {
  const byPath = new Map<string, Mount>()
  // A later rule replaces an earlier one for the same path, so the rules are in ascending order of precedence.
  const put = (path: string, as: Mount['as']): void => void byPath.set(path, { path, as })
  const absent = new Set(places.tree?.hidden)
  const give = (path: string, as: Mount['as']): void => {
    put(path, as)
    ofTree.delete(path)
  }
  const roots = writableRoots(policy, host)

  for (const mount of treeMounts(places, host)) byPath.set(mount.path, mount)
  const ofTree = new Set(byPath.keys())
  for (const place of hiddenPlaces) {
    const real = host.realPath(place)
    if (real !== undefined) put(real, place === '/tmp' ? 'private' : 'tmpfs')
  }
  const shown = [
    ...systemPlaces,
    ...(policy.network.mode === 'full' ? resolverPlaces : []),
    ...policy.readableRoots,
    policy.workspace,
  ]
  for (const path of shown) {
    const real = host.realPath(path)
    if (real !== undefined) give(real, 'read-only')
  }
  const writable = [...roots, ...writableFiles(policy, host)]
  for (const path of writable) give(path, 'writable')
  const socket = policy.dockerSocket === undefined ? undefined : host.realPath(policy.dockerSocket)
  if (socket !== undefined) give(socket, 'read-only')
  const granted = new Set([...byPath.keys()].filter((path) => !ofTree.has(path)))
  const denied = new Set<string>()
  for (const path of host.present(deniedPlaces(policy, host))) {
    const real = host.realPath(path)
    if (real !== undefined) denied.add(real)
    // A path that was granted explicitly stays granted, and entries of a hidden directory can't be seen anyway, so neither gets a mount.
    if (real === undefined || granted.has(real) || isHidden(nearest(real, byPath))) continue
    put(real, host.kindOf(real) === 'directory' ? 'empty-directory' : 'refused-file')
  }
  // Makes a path read-only if the command could otherwise write to it. Below a denied directory, no mount is added, because it would reveal what the
  // directory contains.
  const protect = (path: string): void => {
    if (nearest(path, byPath)?.as === 'writable') put(path, 'read-only')
  }
  const shielded = [plainOnes(places.protectedPaths), places.protectedOutside ?? []].flatMap((list) =>
    host.present(list),
  )
  for (const path of [...shielded, ...places.gitLinks]) {
    const real = host.realPath(path)
    if (real !== undefined && !roots.includes(real)) protect(real)
  }
  // Entries of a writable directory are writable without a mount of their own. If they have no mount, commands can also rename the directories that
  // contain them.
  for (const path of writable) {
    const isInside = path !== '/' && nearest(dirname(path), byPath)?.as === 'writable'
    if (isInside && byPath.get(path)?.as === 'writable') byPath.delete(path)
  }
  // Git obeys its own configuration wherever it is, so commands see it although the home directory is closed.
  for (const path of places.tree === undefined ? [] : places.git.configs) {
    const real = host.realPath(path)
    const isFile = real !== undefined && host.kindOf(real) === 'file'
    if (isFile && isHidden(nearest(real, byPath)) && ![real, ...ancestors(real)].some((at) => denied.has(at)))
      put(real, 'read-only')
  }
  for (const path of places.git.hidden) {
    const real = host.realPath(path)
    if (real !== undefined && !granted.has(real) && !isHidden(nearest(real, byPath))) put(real, 'refused-file')
  }
  for (const mount of places.git.replaced) {
    const real = host.realPath(mount.path)
    if (real === undefined || granted.has(real) || isHidden(nearest(real, byPath))) continue
    if (byPath.get(real)?.as !== 'refused-file') byPath.set(real, { ...mount, path: real })
  }
  // A denied directory stays denied, even if it contains a repository. A repository that commands can only read is mounted only where commands can
  // see it at all.
  const own = [
    ...places.git.mounts.filter(({ path }) => {
      const around = nearest(path, byPath)
      return around?.as !== 'empty-directory' || absent.has(around.path)
    }),
    ...places.git.nested.filter(({ path }) => !isHidden(nearest(path, byPath))),
  ]
  for (const { path } of own) {
    // Nothing else may be mounted below the private git directory, because that would show a part of the host's git directory.
    for (const other of byPath.keys()) if (other !== path && isWithin(other, path)) byPath.delete(other)
  }
  for (const mount of own) byPath.set(mount.path, mount)
  const mounts = [...byPath.values()]
    .map((mount) => ({ mount, deep: depth(mount.path) }))
    .toSorted((a, b) => a.deep - b.deep || (a.mount.path < b.mount.path ? -1 : 1))
    .map(({ mount }) => mount)
  return mounts.map((mount) => {
    if (mount.as !== 'empty-directory' && mount.as !== 'cache') return mount
    const isEmpty = !mounts.some(({ path }) => path !== mount.path && isWithin(path, mount.path))
    if (isEmpty) return mount
    // An overlay would not show what is mounted in it.
    return { ...mount, as: mount.as === 'cache' ? 'read-only' : 'tmpfs' }
  })
}

/** The mounts of a closed tree. A place that doesn't exist any more is left out. */
function treeMounts({ tree, layers }: ShownPlaces, host: FileSystemView): readonly Mount[] {
  if (tree === undefined) return []
  const { hidden, homes, shown, caches } = tree
  return [
    ...hidden.flatMap((path): readonly Mount[] => {
      const kind = host.realPath(path) === path ? host.kindOf(path) : 'absent'
      return kind === 'absent' ? [] : [{ path, as: kind === 'directory' ? 'empty-directory' : 'refused-file' }]
    }),
    ...homes.map((home): Mount => ({ ...home, as: 'private' })),
    ...shown.flatMap(({ path, source }): readonly Mount[] => {
      if (host.realPath(source) !== source) return []
      return [{ path, as: 'read-only', ...(path === source ? {} : { source }) }]
    }),
    ...caches.flatMap(({ path, source }, index): readonly Mount[] => {
      if (layers === undefined || host.realPath(source) !== source) return []
      return [{ path, as: 'cache', source, storage: join(layers, `${index}`) }]
    }),
  ]
}

const plainOnes = memoize((paths: readonly string[]) => paths.filter((path) => !isNested(path)))

/** The mount that decides what commands see at `path`: the innermost mount that contains the path. */
function nearest(path: string, mounts: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let at = path; ; at = dirname(at)) {
    const mount = mounts.get(at)
    if (mount !== undefined || at === '/') return mount
  }
}

function isHidden(mount: Mount | undefined): boolean {
  return mount?.as === 'private' || mount?.as === 'tmpfs' || mount?.as === 'empty-directory'
}
