import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { cachedFileSystem } from '../cached-file-system.ts'
import { gitMetadata, innermost, resolveExisting, shieldingPlaces } from '../denials/evaluate-access.ts'
import { hostFileSystem, type FileSystemView } from '../file-system-view.ts'
import { ownPlaceOf } from '../installation/hold-installation.ts'
import { nestedPlace } from '../nested-places.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { protectedBelow } from '../roots.ts'

/**
 * The place that protects `path` from writes by anybody but the user, whatever the sandbox mode and wherever the path lies; undefined if nothing
 * protects it. It applies to everything except commands that writes for a model: patches, file tools, grants. Git's own directories are protected
 * too: commands have a private copy, and nothing else needs to write there.
 *
 * @param path absolute; symlinks are followed as far as they lead
 * @param roots directories that may be written otherwise, such as the workspace. Outside of them, each directory is treated as a project and a home
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
 * The same for many paths, one after the other: the host is read once, and the places below the roots are computed once.
 *
 * @internal
 */
export function protectingPlaces(
  policy: Pick<SandboxPolicy, 'protectedPaths'>,
  roots: readonly string[],
  host: FileSystemView = cachedFileSystem(),
): (path: string) => string | undefined {
  const realRoots = roots.map((each) => host.realPath(each) ?? each)
  const shields = new Map<string | undefined, (path: string) => string | undefined>()
  const shieldIn = (root: string | undefined): ((path: string) => string | undefined) => {
    const known = shields.get(root)
    if (known !== undefined) return known
    const shielded = root === undefined ? anywhere(policy) : protectedBelow(realRoots, policy)
    const made = shieldingPlaces(root ?? '/', shielded, host)
    shields.set(root, made)
    return made
  }
  return (path) => {
    const real = resolveExisting(path, host)
    const own = ownPlaceOf(real)
    if (own !== undefined) return own
    const root = innermost(real, realRoots)
    const git = gitPlace(real, root ?? '/', host)
    if (git !== undefined) return git
    return shieldIn(root)(real)
  }
}

/** The places protected outside of every root: the same as in a root, for each directory, since any may be a project or a home. */
function anywhere(policy: Pick<SandboxPolicy, 'protectedPaths'>): readonly string[] {
  return policy.protectedPaths.map((each) => (isAbsolute(each) ? each : nestedPlace('/', each.replace(/^\*\*\//, ''))))
}

/** The git directory that `path` is or lies in, or into which it would turn its parent directory. */
function gitPlace(path: string, root: string, host: FileSystemView): string | undefined {
  const parts = relative(root, path).split('/')
  // Includes short names of NTFS, and characters that HFS+ ignores in a comparison.
  const at = parts.findIndex((name) =>
    /^(?:\.git|git~\d+)[. ]*$/i.test(name.replace(/[\u200b-\u200f\u2060-\u206f\ufeff]/g, '')),
  )
  if (at !== -1) return join(root, ...parts.slice(0, at + 1))
  const metadata = gitMetadata(path, host)
  if (metadata !== undefined) return metadata
  for (let up = dirname(path); up.length >= root.length && up !== '/'; up = dirname(up))
    if (isRepository(up, host)) return up
  // Git recognises a repository by this name and two more, which a patch could bring along or a command could have made.
  const name = basename(path)
  const makes = name === 'HEAD' || (/^head$/i.test(name) && host.kindOf(join(dirname(path), 'objects')) === 'directory')
  return makes && host.kindOf(path) === 'absent' ? path : undefined
}

function isRepository(directory: string, host: FileSystemView): boolean {
  const has = (name: string): boolean => host.kindOf(join(directory, name)) !== 'absent'
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}
