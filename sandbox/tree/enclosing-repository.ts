import { dirname, join } from 'node:path'
import { homes } from '../homes.ts'
import { lstatSync } from '../host-paths.ts'
import { hostFileSystem } from '../file-system-view.ts'
import { depth, isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { shownPath } from '../views/view-paths.ts'

/**
 * The policy in which the repository is readable that contains the workspace as a folder: git looks for its boundary there, and packages find
 * dependencies that were installed for the whole repository. Nothing has to be shown in an open tree. A home directory isn't shown, even if it is a repository.
 */
export function showEnclosing(policy: SandboxPolicy): SandboxPolicy {
  if (policy.home === 'open') return policy
  const found = enclosingRepository(shownPath(policy.workspace, policy.views))
  return found === undefined ? policy : { ...policy, readableRoots: [...policy.readableRoots, found] }
}

function enclosingRepository(workspace: string): string | undefined {
  const real = hostFileSystem.realPath(workspace) ?? workspace
  const owned = homes().flatMap((home) => hostFileSystem.realPath(home) ?? [])
  for (let at = real; depth(at) > 1 && !owned.some((home) => isWithin(home, at)); at = dirname(at)) {
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at === real ? undefined : at
  }
  return undefined
}
