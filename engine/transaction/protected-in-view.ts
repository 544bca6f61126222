import { join } from 'node:path'
import { protectThroughLinks, type SandboxPolicy } from '../../sandbox/index.ts'
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
    const linked = [...(manifests[index]?.values() ?? [])].flatMap(({ key, kind }) => (kind === 'link' ? [key] : []))
    const keys = storage === undefined ? linked : readLinks(storage)
    const links = keys.map((key) => join(path, pathOfKey(key)))
    return protectThroughLinks(soFar, [path, ...repositories.filter((each) => isInside(each, path))], links)
  }, policy)
}
