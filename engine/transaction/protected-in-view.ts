import { join } from 'node:path'
import {
  ledTo,
  protectingPlaces,
  protectThroughLinks,
  type ProtectedIn,
  type SandboxPolicy,
} from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { isInside } from '../core/directories-between.ts'
import { readLinks } from './overlay/withhold-secrets.ts'
import type { PrivateView } from './stored-view.ts'
import type { Manifest } from './view-manifest.ts'

/**
 * A run's policy, which also protects what the links of the view's trees make of protected names.
 *
 * @param manifests the manifest of each tree that is a copy
 * @param repositories the paths of the repositories that were in the trees
 */
export function protectInView(
  { views, overlays }: PrivateView,
  manifests: readonly Manifest[],
  repositories: readonly string[],
  policy: SandboxPolicy,
): SandboxPolicy {
  return views.reduce((soFar, { path }, index) => {
    const storage = overlays[index]
    const linked = [...(manifests[index]?.values() ?? [])].flatMap(({ key, kind }) =>
      kind === 'link' || kind === 'left-out' ? [key] : [],
    )
    const keys = storage === undefined ? linked : readLinks(storage)
    const links = keys.map((key) => join(path, pathOfKey(key)))
    return protectThroughLinks(soFar, [path, ...repositories.filter((each) => isInside(each, path))], links)
  }, policy)
}

/**
 * Which entries of commits must not land in the work tree at `path`: what is protected there, where the links of the commits lead from protected names, and what lies
 * outside the directories that the run could write to.
 *
 * @param writable these directories; undefined if they aren't known
 */
export function protectedIn(
  protectedPaths: string[],
  path: string,
  writable: readonly string[] | undefined,
): ProtectedIn {
  const isOutside = (at: string): boolean => writable !== undefined && !writable.some((each) => isInside(at, each))
  return (links) => {
    const places = new Map([...links].map(([name, target]) => [join(path, name), target]))
    const real = (at: string): string => at
    const linkAt = (at: string) => {
      const target = places.get(at)
      return target === undefined ? undefined : ledTo(at, target, real)
    }
    const policy =
      links.size === 0
        ? { protectedPaths }
        : protectThroughLinks({ protectedPaths }, [path], [...places.keys()], linkAt)
    const protects = protectingPlaces(policy, [path])
    return (entry, change) => {
      const at = join(path, entry)
      if (isOutside(at)) return 'is outside the directories that the run could write to'
      return change !== 'removal' && protects(at, change === 'link') !== undefined ? 'never lands' : undefined
    }
  }
}
