import { evaluateAccess, resolveExisting } from '../denials/evaluate-access.ts'
import { cachedFileSystem } from '../cached-file-system.ts'
import { isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { pathsAndPatterns } from '../roots.ts'

/** A path, and the entry of the policy's denied paths that forbids reading it. */
type Concealed = { readonly path: string; readonly place: string }

/**
 * Those of `paths` that only the user may read, because the policy denies reading them. By default, these are credentials. They are denied in every
 * sandbox mode, because even unconfined commands don't need them. Paths that a more specific entry of the policy grants are left out.
 *
 * @param paths absolute paths; symlinks in them are followed
 * @internal
 */
export function concealedOf(policy: SandboxPolicy, paths: readonly string[]): readonly Concealed[] {
  // Most commands name no file, and querying all places takes longer than everything else that is done to judge a command.
  if (paths.length === 0) return []
  const confined = { ...policy, mode: policy.mode === 'danger-full-access' ? ('read-only' as const) : policy.mode }
  const host = cachedFileSystem()
  const { paths: places, patterns } = pathsAndPatterns(policy.deniedReads)
  // Evaluating a path means querying all denied places. So paths outside all denied places are left out first.
  const denied = [...places, ...host.present(places).flatMap((place) => host.realPath(place) ?? [])]
  const mayBeDenied = (path: string): boolean => {
    const real = resolveExisting(path, host)
    return patterns.length > 0 || denied.some((place) => isWithin(real, place))
  }
  return paths.filter(mayBeDenied).flatMap((path) => {
    const verdict = evaluateAccess(confined, { path, want: 'read' }, host)
    return verdict.allowed || verdict.remedy.kind !== 'show-denied' ? [] : [{ path, place: verdict.remedy.place }]
  })
}
