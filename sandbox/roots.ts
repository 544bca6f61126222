import { join } from 'node:path'
import { nestedPlace } from './nested-places.ts'
import { namedByGit } from './protected/named-by-git.ts'
import type { FileSystemView } from './file-system-view.ts'
import { memoize } from './memoize.ts'
import { isNamePattern } from './name-pattern.ts'
import { isAnyWithin, listText } from './path-list.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'

/** The directories that the policy lets a command write to, as paths without symlinks. There are none unless the mode is workspace-write. */
export function writableRoots(policy: SandboxPolicy, host: FileSystemView): readonly string[] {
  if (policy.mode !== 'workspace-write') return []
  const real = [policy.workspace, ...policy.writableRoots].map((path) => host.realPath(path))
  return [...new Set(real.filter((path) => path !== undefined))]
}

/** Returns the policy with the files among its writable roots moved to its list of writable files. */
export function filesApart(policy: SandboxPolicy, host: FileSystemView): SandboxPolicy {
  const files = policy.writableRoots.filter((root) => host.kindOf(root) === 'file')
  if (files.length === 0) return policy
  return {
    ...policy,
    writableRoots: policy.writableRoots.filter((root) => !files.includes(root)),
    writableFiles: [...policy.writableFiles, ...files],
  }
}

/** The individual files that the policy lets a command write to, as paths without symlinks. There are none unless the mode is workspace-write. */
export function writableFiles(policy: SandboxPolicy, host: FileSystemView): readonly string[] {
  if (policy.mode !== 'workspace-write') return []
  return policy.writableFiles.flatMap((path) => {
    const real = host.realPath(path)
    return real !== undefined && host.kindOf(real) === 'file' ? [real] : []
  })
}

/** The paths that commands can't read: those that the policy lists, and, below the roots, those whose names match one of the policy's patterns. */
export function deniedPlaces(policy: SandboxPolicy, host: FileSystemView): readonly string[] {
  const { paths, patterns } = pathsAndPatterns(policy.deniedReads)
  if (patterns.length === 0) return paths
  const roots = [policy.workspace, ...writableRoots(policy, host), ...policy.readableRoots]
  const real = new Set(roots.map((root) => host.realPath(root)).filter((root) => root !== undefined))
  return [...paths, ...[...real].flatMap((root) => host.named(root, patterns))]
}

/** Splits a list in a policy into paths and name patterns. */
export const pathsAndPatterns = memoize((denied: readonly string[]) =>
  listText(denied).includes('\0**/')
    ? { paths: denied.filter((entry) => !isNamePattern(entry)), patterns: denied.filter(isNamePattern) }
    : { paths: denied, patterns: [] },
)

/**
 * The existing paths below `roots` that commands can't read, with symlinks resolved. When a command runs git, git must not look at these paths. Paths
 * that are granted explicitly are left out.
 *
 * @param roots paths without symlinks
 */
export function deniedBelow(policy: SandboxPolicy, roots: readonly string[], host: FileSystemView): readonly string[] {
  const granted = new Set([policy.workspace, ...policy.readableRoots, ...policy.writableRoots, ...policy.writableFiles])
  return host
    .present(below(deniedPlaces(policy, host))(roots))
    .flatMap((path) => host.realPath(path) ?? [])
    .filter((path) => isBelow(path, roots) && !granted.has(path))
}

function isBelow(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path !== root && isWithin(path, root))
}

/**
 * Takes a list of paths, and returns a function that selects those below the given roots. The list may be long, so the result for the last roots is
 * cached: the roots are the same for all commands of a sandbox.
 */
const below = memoize((paths: readonly string[]) => {
  let known: { readonly of: string; readonly paths: readonly string[] } | undefined
  return (roots: readonly string[]): readonly string[] => {
    const of = roots.join('\0')
    const isAny = known?.of !== of && roots.some((root) => isAnyWithin(paths, root))
    if (known?.of !== of) known = { of, paths: isAny ? paths.filter((path) => isBelow(path, roots)) : [] }
    return known.paths
  }
})

/** The policy's protected paths in absolute form, in two lists: those inside the given roots, and those outside. */
export type ProtectedPlaces = {
  /** The paths inside a root, and patterns for the names that are protected in every directory of a root (see `nestedPlace`). */
  readonly inside: readonly string[]
  /** The paths outside all roots. They are needed because such a path may contain a symlink that leads into a root. */
  readonly outside: readonly string[]
}

/** The policy's protected paths in absolute form, inside and outside the given roots, in one list. */
export function protectedBelow(
  roots: readonly string[],
  policy: Pick<SandboxPolicy, 'protectedPaths'>,
): readonly string[] {
  const { inside, outside } = protectedByRoots(roots, policy)
  return [...inside, ...outside]
}

/**
 * The policy's protected paths in absolute form. A relative path is protected in each of `roots`. A path that is protected in every directory is also
 * protected in the root itself. The result includes files in the roots that git's configuration names. As long as the configuration names the same
 * files, the same list objects are returned, so that values that are cached for these lists are found again.
 */
export function protectedByRoots(
  roots: readonly string[],
  { protectedPaths }: Pick<SandboxPolicy, 'protectedPaths'>,
): ProtectedPlaces {
  const named = roots.flatMap(namedByGit).filter((path) => roots.some((root) => path !== root && isWithin(path, root)))
  return placesOf(protectedPaths)(roots)(named)
}

/**
 * Computes the result of `protectedByRoots`. It caches the result for each list of roots, and computes it again when git's configuration names
 * different files than at the last call.
 */
const placesOf = memoize((protectedPaths: readonly string[]) => {
  const known = new Map<string, ReturnType<typeof placesIn>>()
  return (roots: readonly string[]) => {
    const key = roots.join('\0')
    const before = known.get(key)
    if (before !== undefined) return before
    if (known.size >= mostRootLists) known.clear()
    const made = placesIn(roots, protectedPaths)
    known.set(key, made)
    return made
  }
})

/** How many lists of roots are remembered for one list of protected paths. A run needs only two or three. */
const mostRootLists = 16

function placesIn(
  roots: readonly string[],
  protectedPaths: readonly string[],
): (named: readonly string[]) => ProtectedPlaces {
  const [inside, outside]: [string[], string[]] = [[], []]
  const isAnyInside = roots.some((root) => isAnyWithin(protectedPaths, root))
  for (const path of protectedPaths) {
    if (path.startsWith('/')) (isAnyInside && roots.some((root) => isWithin(path, root)) ? inside : outside).push(path)
    else if (!path.startsWith('**/')) inside.push(...roots.map((root) => placeIn(root, path)))
    else {
      const name = path.slice(3)
      if (!name.includes('*')) inside.push(...roots.map((root) => placeIn(root, name)))
      inside.push(...roots.map((root) => nestedPlace(root, name)))
    }
  }
  let last: { readonly named: string; readonly places: ProtectedPlaces } | undefined
  return (byGit) => {
    const named = byGit.join('\0')
    if (last?.named !== named) {
      const places = { inside: [...inside, ...byGit].filter((path) => !roots.includes(path)), outside }
      last = { named, places }
    }
    return last.places
  }
}

/** Like `join`, but much faster for names that are already normalized, as most are. */
function placeIn(root: string, name: string): string {
  return /(?:^|\/)\.{0,2}(?:\/|$)/.test(name) ? join(root, name) : `${root === '/' ? '' : root}/${name}`
}
