import type { Mount } from '../mount.ts'
import { depth, isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { shownPath, sourcePath, type View } from './view-paths.ts'

export { shownPath }

/** The policy as everything that looks at the host has to have it: each path where its files lie. */
export function policyAtSources(policy: SandboxPolicy): SandboxPolicy {
  const { views } = policy
  const moved = withPaths(policy, (path) => sourcePath(path, views))
  // All of a view is shown, also where only a part of it may be written.
  return { ...moved, readableRoots: [...new Set([...moved.readableRoots, ...views.map(({ source }) => source)])] }
}

/** The policy in the paths that commands know. */
export function policyAsShown(policy: SandboxPolicy): SandboxPolicy {
  const { views } = policy
  return views.length === 0 ? policy : withPaths(policy, (path) => shownPath(path, views))
}

/** The policy with each path of the workspace, its roots and what is denied in them replaced. */
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

/** A plan that was made where the files lie, with each mount at the path where commands are to see it. */
export function showViews(mounts: readonly Mount[], views: readonly View[]): readonly Mount[] {
  if (views.length === 0) return mounts
  const shown = mounts
    // Nothing that lies where a view is shown is to be seen.
    .filter(({ path }) => !views.some((view) => isWithin(path, view.path)))
    .map((mount): Mount => {
      const path = shownPath(mount.path, views)
      if (path === mount.path) return mount
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
