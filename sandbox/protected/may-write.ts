import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { cachedFileSystem } from '../cached-file-system.ts'
import { gitMetadata, innermost, resolveExisting, shieldingPlaces } from '../denials/evaluate-access.ts'
import { hostFileSystem, type FileSystemView } from '../file-system-view.ts'
import { ownPlaceOf } from '../installation/own-paths.ts'
import { memoize } from '../memoize.ts'
import { nestedAhead, nestedPlace } from '../nested-places.ts'
import { isAnyWithin } from '../path-list.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { protectedByRoots, type ProtectedPlaces } from '../roots.ts'

/**
 * The protected place that `path` is or is inside; undefined if nothing protects it. Only the user may write there, in any sandbox mode, and even
 * outside all roots. This is checked for patches, file tools and grants: for everything that writes on behalf of a model, except commands. Git's own
 * directories are protected too, because commands have a private copy, and nothing else needs to write there.
 *
 * @param path an absolute path; symlinks in it are followed
 * @param roots the writable directories, such as the workspace. Outside of them, each directory is treated both as a project and as a home directory
 * @internal
 */
export function protectingPlace(
  policy: Pick<SandboxPolicy, 'protectedPaths'>,
  path: string,
  roots: readonly string[],
  host: FileSystemView = hostFileSystem,
): string | undefined {
  return protectingPlaces(policy, roots, host)(path)
}

/**
 * Like `protectingPlace`, but returns a function for many paths. Each of the host's files is queried only once, and the places below the roots are
 * computed only once. The function's second argument says whether a link is written: a link is protected, too, if a protected place lies below it,
 * because whatever it leads to would be in that place.
 *
 * @internal
 */
export function protectingPlaces(
  policy: Pick<SandboxPolicy, 'protectedPaths'>,
  roots: readonly string[],
  host: FileSystemView = cachedFileSystem(),
): (path: string, isLink?: boolean) => string | undefined {
  const realRoots = roots.map((each) => host.realPath(each) ?? each)
  let inRoots: ProtectedPlaces | undefined
  const shields = new Map<string | undefined, (path: string) => string | undefined>()
  const shieldIn = (root: string | undefined): ((path: string) => string | undefined) => {
    const known = shields.get(root)
    if (known !== undefined) return known
    const shielded =
      root === undefined ? anywhere(policy.protectedPaths) : (inRoots ??= protectedByRoots(realRoots, policy))
    const made = shieldingPlaces(root ?? '/', shielded, host)
    shields.set(root, made)
    return made
  }
  return (path, isLink) => {
    if (isLink === true && leadsToPlace((inRoots ??= protectedByRoots(realRoots, policy)).inside, path)) return path
    const real = resolveExisting(path, host)
    const own = ownPlaceOf(real, realRoots)
    if (own !== undefined) return own
    const root = innermost(real, realRoots)
    const git = gitPlace(real, root ?? '/', host)
    if (git !== undefined) return git
    return shieldIn(root)(real)
  }
}

function leadsToPlace(places: readonly string[], path: string): boolean {
  return isAnyWithin(places, path) || nestedAhead(places)(path).length > 0
}

/**
 * The places that are protected outside all roots. Any directory outside the roots may be a project or a home directory, so what is protected in a
 * root is protected in each of these directories.
 */
const anywhere = memoize((protectedPaths: readonly string[]): ProtectedPlaces => ({
  inside: protectedPaths.map((each) => (isAbsolute(each) ? each : nestedPlace('/', each.replace(/^\*\*\//, '')))),
  outside: [],
}))

/** The git directory that `path` is or is inside. If writing to `path` could make its parent directory a git directory, this is `path` itself. */
function gitPlace(path: string, root: string, host: FileSystemView): string | undefined {
  const parts = relative(root, path).split('/')
  // The comparison allows for NTFS short names, and for characters that HFS+ ignores.
  const at = parts.findIndex((name) =>
    /^(?:\.git|git~\d+)[. ]*$/i.test(name.replace(/[\u200b-\u200f\u2060-\u206f\ufeff]/g, '')),
  )
  if (at !== -1) return join(root, ...parts.slice(0, at + 1))
  const metadata = gitMetadata(path, host)
  if (metadata !== undefined) return metadata
  for (let up = dirname(path); up.length >= root.length && up !== '/'; up = dirname(up))
    if (isRepository(up, host)) return up
  // Git recognizes a repository by the names HEAD, `objects` and `refs`. So nothing may create HEAD: a patch could also create `objects` and `refs`, or a
  // command could already have created them.
  const name = basename(path)
  const makes = name === 'HEAD' || (/^head$/i.test(name) && host.kindOf(join(dirname(path), 'objects')) === 'directory')
  return makes && host.kindOf(path) === 'absent' ? path : undefined
}

function isRepository(directory: string, host: FileSystemView): boolean {
  const has = (name: string): boolean => host.kindOf(join(directory, name)) !== 'absent'
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}
