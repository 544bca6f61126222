import { dirname } from 'node:path'
import type { Mount } from '../mount.ts'
import { depth, isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { shownPath, sourcePath, type View } from './view-paths.ts'

export { shownPath }

/** The policy with its paths changed to those at which the files are stored, for code that reads files on the host. */
export function policyAtSources(policy: SandboxPolicy): SandboxPolicy {
  const { views } = policy
  const moved = withPaths(policy, (path) => sourcePath(path, views))
  // All files of a view are readable, even if only some of them are writable.
  return { ...moved, readableRoots: [...new Set([...moved.readableRoots, ...views.map(({ source }) => source)])] }
}

/** The policy with its paths changed to those that commands see. */
export function policyAsShown(policy: SandboxPolicy): SandboxPolicy {
  const { views } = policy
  return views.length === 0 ? policy : withPaths(policy, (path) => shownPath(path, views))
}

/** The policy with each path replaced: the workspace, all roots and files, the denied paths and the protected paths. */
function withPaths(policy: SandboxPolicy, replace: (path: string) => string): SandboxPolicy {
  const all = (paths: readonly string[]): string[] => paths.map((path) => replace(path))
  return {
    ...policy,
    workspace: replace(policy.workspace),
    writableRoots: all(policy.writableRoots),
    writableFiles: all(policy.writableFiles),
    readableRoots: all(policy.readableRoots),
    deniedReads: all(policy.deniedReads),
    protectedPaths: all(policy.protectedPaths),
  }
}

function layered(mount: Mount, { over, source }: View, path: string): Mount {
  const as = mount.as === 'writable' ? 'layered' : mount.as === 'read-only' ? 'layered-read-only' : undefined
  return as === undefined || over === undefined
    ? { ...mount, path }
    : { path, as, source: over, storage: dirname(source) }
}

/** Moves each mount from the path at which its file is stored to the path at which commands see the file. */
export function mountsAsShown(mounts: readonly Mount[], views: readonly View[]): readonly Mount[] {
  if (views.length === 0) return mounts
  const shown = mounts
    // The original files below a view's path must not be visible. The files of the view itself may be stored there.
    .filter(
      ({ path }) =>
        views.some((view) => isWithin(path, view.source)) || !views.some((view) => isWithin(path, view.path)),
    )
    .map((mount): Mount => {
      const path = shownPath(mount.path, views)
      if (path === mount.path) return mount
      const view = views.find((each) => each.over !== undefined && isWithin(mount.path, each.source))
      // What is mounted without a source of its own is in the overlay, of which the view's source is only a part.
      if (view?.over !== undefined) return mount.path === view.source ? layered(mount, view, path) : { ...mount, path }
      const hasSource = mount.as === 'writable' || mount.as === 'read-only' || mount.as === 'replaced-file'
      return hasSource ? { ...mount, path, source: mount.source ?? mount.path } : { ...mount, path }
    })
    .toSorted((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1))
  return shown.map((mount) =>
    mount.as === 'empty-directory' && shown.some(({ path }) => path !== mount.path && isWithin(path, mount.path))
      ? { ...mount, as: 'tmpfs' }
      : mount,
  )
}
