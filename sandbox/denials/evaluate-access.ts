import { basename, dirname, join, relative } from 'node:path'
import type { FileSystemView } from '../file-system-view.ts'
import { isNamePattern, matchesName } from '../name-pattern.ts'
import { memoize } from '../memoize.ts'
import { isNested, nestedPlaces } from '../nested-places.ts'
import { depth, isWithin } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { gitExecutables } from '../git/executables.ts'
import { keyFileAt } from '../protected/key-files.ts'
import { pathsAndPatterns, protectedByRoots, writableFiles, writableRoots, type ProtectedPlaces } from '../roots.ts'
import type { Remedy } from './denial-remedy.ts'

/** Whether the policy allows access to a path and, if it doesn't, which part of the policy forbids the access, and what would allow it. */
type Evaluation =
  { readonly allowed: true } | { readonly allowed: false; readonly rule: string; readonly remedy: Remedy }

const allowed: Evaluation = { allowed: true }

/** Paths at which commands see private directories of the sandbox in place of the host's directories. Commands can write to the private ones freely. */
const privatePlaces = ['/tmp', '/dev/shm']

/** Decides whether `policy` allows reading or writing `path`, following symlinks. It changes nothing in the file system. */
export function evaluateAccess(
  policy: SandboxPolicy,
  access: { readonly path: string; readonly want: 'read' | 'write' },
  host: FileSystemView,
): Evaluation {
  if (policy.mode === 'danger-full-access') return allowed
  const path = resolveExisting(access.path, host)
  const roots = [...writableRoots(policy, host), ...writableFiles(policy, host)]
  const shown = [policy.workspace, ...policy.readableRoots].map((root) => host.realPath(root) ?? root)
  const denied = nearest(path, placesAmong([pathsAndPatterns(policy.deniedReads).paths], host))
  const granted = innermost(path, [...roots, ...shown])
  // The more specific entry wins; if a grant and a denial name the same path, the grant wins.
  if (denied !== undefined && (granted === undefined || depth(denied) > depth(granted))) {
    return { allowed: false, rule: `deniedReads: ${denied}`, remedy: { kind: 'show-denied', place: denied, path } }
  }
  const pattern = granted === undefined ? undefined : deniedName(policy, relative(granted, path))
  if (pattern !== undefined) {
    return { allowed: false, rule: `deniedReads: ${pattern}`, remedy: { kind: 'show-denied', place: pattern, path } }
  }
  const holdsSecret = (): boolean => host.kindOf(path) === 'file' && keyFileAt(path) !== undefined
  if (path !== granted && [...roots, ...shown].includes(dirname(path)) && holdsSecret()) {
    return {
      allowed: false,
      rule: `a file that holds a secret: ${path}`,
      remedy: { kind: 'add-root', to: 'readableRoots', path },
    }
  }
  return access.want === 'read' ? evaluateRead(path, granted) : evaluateWrite(policy, path, { roots, granted }, host)
}

/** Returns the name pattern in `deniedReads` that matches a path; undefined if there is none. The path is relative to a root. */
function deniedName(policy: SandboxPolicy, path: string): string | undefined {
  return policy.deniedReads.find((entry) => isNamePattern(entry) && matchesName(path, [entry]))
}

function evaluateRead(path: string, granted: string | undefined): Evaluation {
  if (granted === undefined && (isWithin(path, '/tmp') || isWithin(path, '/run'))) {
    return {
      allowed: false,
      rule: "the host's /tmp and /run are hidden from commands",
      remedy:
        basename(path) === 'docker.sock'
          ? { kind: 'show-docker-socket' }
          : { kind: 'add-root', to: 'readableRoots', path },
    }
  }
  return allowed
}

function evaluateWrite(
  policy: SandboxPolicy,
  path: string,
  { roots, granted }: { readonly roots: readonly string[]; readonly granted: string | undefined },
  host: FileSystemView,
): Evaluation {
  const root = innermost(path, roots)
  if (root === undefined) {
    if (granted === undefined && privatePlaces.some((place) => isWithin(path, place))) return allowed
    return outsideRoots(policy, path, host)
  }
  const metadata = gitMetadata(path, host)
  if (metadata !== undefined) {
    return {
      allowed: false,
      rule: `git metadata that the host would execute: ${metadata}`,
      remedy: { kind: 'otherwise', advice: 'make this change yourself, outside the sandbox' },
    }
  }
  const repository = repositoryAround(path, root, host)
  if (
    repository !== undefined &&
    !policy.views.some((view) => isWithin(path, view.path) || isWithin(path, view.source))
  ) {
    return {
      allowed: false,
      rule: `a repository that is there when a command starts is read-only for it without a view: ${repository}`,
      remedy: { kind: 'otherwise', advice: 'leave out --in-place (in_place), or make this change yourself' },
    }
  }
  const place = shieldingPlaces(root, protectedByRoots(roots, policy), host)(path)
  return place === undefined
    ? allowed
    : { allowed: false, rule: `protectedPaths: ${place}`, remedy: { kind: 'unprotect', path: place } }
}

/** The `.git` below a root that is or contains a path, if it exists. */
function repositoryAround(path: string, root: string, host: FileSystemView): string | undefined {
  for (let at = path; isWithin(at, root) && at !== root; at = dirname(at))
    if (basename(at) === '.git') return host.kindOf(at) === 'absent' ? undefined : at
  return undefined
}

/** The paths of a list except the nested ones (see `isNested`). The result is cached, with the list itself as the key. */
const plainPlaces = memoize((places: readonly string[]) => places.filter((each) => !isNested(each)))

/**
 * Returns a function that finds the protected path in `root` that is or contains a path. A protected path that contains `root` doesn't count, because
 * the root was granted explicitly. The symlinks in the protected paths are resolved only once, for all paths.
 */
export function shieldingPlaces(
  root: string,
  { inside, outside }: ProtectedPlaces,
  host: FileSystemView,
): (path: string) => string | undefined {
  const isPlace = placesAmong([inside, outside].map(plainPlaces), host)
  return (path) => nearest(path, (at) => isPlace(at) && !isWithin(root, at)) ?? nestedPlaces(inside)(path)
}

/** Why a command can't write to a path outside every root, and the narrowest grant or the mode that would allow it, if there is one. */
function outsideRoots(policy: SandboxPolicy, path: string, host: FileSystemView): Evaluation {
  const rule = policy.mode === 'read-only' ? 'mode: read-only' : 'outside the writable roots'
  const kernel = ['/proc', '/sys', '/dev'].some((place) => isWithin(path, place))
  if (kernel) {
    return {
      allowed: false,
      rule,
      remedy: { kind: 'otherwise', advice: 'change it yourself: no sandbox allows this' },
    }
  }
  const workspace = host.realPath(policy.workspace) ?? policy.workspace
  if (policy.mode === 'read-only') {
    const remedy: Remedy = isWithin(path, workspace)
      ? { kind: 'use-mode', mode: 'workspace-write' }
      : { kind: 'otherwise', advice: `use workspace-write mode, and make ${path} a writable root` }
    return { allowed: false, rule, remedy }
  }
  const absent = host.kindOf(path) === 'absent'
  const remedy: Remedy = { kind: 'add-root', to: 'writableRoots', path, ...(absent ? { absent } : {}) }
  return { allowed: false, rule, remedy }
}

/** The entry of a git directory that is or contains `path`, if git would execute or follow that entry; otherwise undefined. */
export function gitMetadata(path: string, host: FileSystemView): string | undefined {
  for (let at = path; at !== '/'; at = dirname(at)) {
    const isOfGit = gitExecutables.some((name) => {
      const git = at.endsWith(`/${name}`) ? at.slice(0, -name.length - 1) : ''
      return git !== '' && (basename(git) === '.git' || host.kindOf(`${git}/HEAD`) === 'file')
    })
    if (isOfGit) return at
  }
  return undefined
}

/** Resolves the symlinks in the part of a path that exists, and appends the rest of the path unchanged. */
export function resolveExisting(path: string, host: FileSystemView): string {
  for (let at = path, rest = ''; ; rest = join(basename(at), rest), at = dirname(at)) {
    const real = host.realPath(at)
    if (real !== undefined) return rest === '' ? real : join(real, rest)
    if (at === '/') return path
  }
}

/** Returns a function that tests whether a path is one of the paths in `lists`, either as listed or after their symlinks have been resolved. */
function placesAmong(lists: readonly (readonly string[])[], host: FileSystemView): (path: string) => boolean {
  const targets = new Set(
    lists.flatMap((places) => host.present(places).flatMap((place) => host.realPath(place) ?? [])),
  )
  return (path) => targets.has(path) || lists.some((places) => setOf(places).has(path))
}

const setOf = memoize((places: readonly string[]): ReadonlySet<string> => new Set(places))

/** The path itself or the nearest directory above it for which `isWanted` returns true; undefined if there is none. */
function nearest(path: string, isWanted: (at: string) => boolean): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    if (isWanted(at)) return at
    if (at === '/') return undefined
  }
}

export function innermost(path: string, places: readonly string[]): string | undefined {
  return places.filter((place) => isWithin(path, place)).toSorted((a, b) => depth(b) - depth(a))[0]
}
