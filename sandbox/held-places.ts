import { closeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lstatSync } from './host-paths.ts'
import type { Backend } from './backend.ts'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem, type FileSystemView } from './file-system-view.ts'
import { isSame, isThere, openWithoutLinks, pathOf, placeAt, type Held, type Place } from './held-place.ts'
import type { KnownPlaces } from './known-places.ts'
import type { Identity } from './helper/steps.ts'
import { cachedFileSystem, type CachedFileSystem } from './cached-file-system.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import { movedDenial, putBack } from './put-back.ts'
import { pathsAndPatterns, writableRoots } from './roots.ts'
import type { Denial } from './sandbox.ts'

/** The maximum number of entries denied by name that are tied to a descriptor. With more of them, all file descriptors could be used up. */
const mostParents = 1024

/** The paths of a policy, tied to the entries that were there when the sandbox was opened, because commands may rename or replace these entries. */
type HeldPlaces = {
  /**
   * Returns the policy for the next command: its roots have their original paths without symlinks, and its denied entries have their current paths.
   * Throws `path-changed` if one denied entry has been moved to the path of another.
   */
  readonly current: (policy: SandboxPolicy) => SandboxPolicy
  /** The entry that must be at the path of a root or of a denied entry; undefined for other paths. */
  readonly identityOf: (path: string) => Identity | undefined
  /** The host's file system, in which the policy's paths are resolved as they were at the start: no symlink created since then is followed. */
  readonly view: FileSystemView
  /** Returns a copy of `view` that queries each entry only once. */
  readonly look: () => CachedFileSystem
  /**
   * Moves back the denied entries that a command has moved, and reports this. If an entry can't be moved back, that is reported only once. Entries
   * that are denied by name aren't moved back, because they are denied everywhere.
   */
  readonly putBack: () => readonly Denial[]
  /** Returns the entries that belong to the policy's paths, for sandboxes that are opened later with the same paths. */
  readonly known: () => KnownPlaces
  readonly close: () => void
}

/** A denied entry that commands can move. Either the entry itself is held open, or its directory is. */
type Denied = { readonly path: string; readonly held: Held; readonly name: string | undefined }

/**
 * Holds open the entries that the policy's paths name. This works only on Linux, because elsewhere a descriptor has no path. Throws `path-changed` if
 * a path in `wanted` no longer has the expected entry.
 */
export function holdPlaces(policy: SandboxPolicy, backend: Backend, wanted: readonly Place[] = []): HeldPlaces {
  const roots = writableRoots(policy, hostFileSystem)
  const isMovable = (path: string): boolean => roots.some((root) => path !== root && isWithin(path, root))
  const held = new Map<string, Held>()
  const hold = (path: string): Held | undefined => {
    const known = held.get(path)
    if (known !== undefined) return known
    const opened = openWithoutLinks(path)
    if (opened !== undefined) held.set(path, opened)
    return opened
  }
  const fixed = new Map<string, string | undefined>()
  const fix = (path: string): string => {
    const real = hostFileSystem.realPath(path)
    // If the path is missing, a command may create a symlink there. The symlink's target must not count as granted.
    fixed.set(real ?? path, real)
    return real ?? path
  }
  const isRoot = (path: string): boolean => hold(path) !== undefined
  const paths = {
    workspace: fix(policy.workspace),
    writableRoots: policy.writableRoots.map(fix),
    readableRoots: policy.readableRoots.map(fix),
    writableFiles: policy.writableFiles.map(fix),
  }
  const rootIdentities = new Map(
    [paths.workspace, ...paths.writableRoots, ...paths.readableRoots]
      .filter(isRoot)
      .map((path) => [path, held.get(path)?.identity]),
  )
  for (const place of wanted) {
    const { path, identity } = place
    const found = hold(path)
    if (found === undefined ? !isThere(place) : !isSame(found.identity, identity)) {
      for (const { descriptor } of held.values()) closeSync(descriptor)
      throw new SandboxError('path-changed', { backend, path, approved: true })
    }
    rootIdentities.set(path, identity)
  }
  const denied = hostFileSystem
    .present(pathsAndPatterns(policy.deniedReads).paths)
    .flatMap((entry) => deniedPlace(hostFileSystem.realPath(entry), isMovable, hold))
  const named = new Map<string, Denied>()
  const told = new Map<string, string>()

  const all = (): readonly Denied[] => [...denied, ...named.values()]
  let deniedIdentities = new Map<string, Identity>()
  const locate = (): ReadonlyMap<string, Identity> => {
    const places = new Map<string, Identity>()
    for (const each of all()) {
      const place = whereIs(each)
      if (place === undefined) continue
      const known = places.get(place.path)
      // One denied entry has been moved to the former path of another.
      if (known !== undefined && !isSame(known, place.identity)) {
        throw new SandboxError('path-changed', { backend, path: place.path })
      }
      places.set(place.path, place.identity)
    }
    return (deniedIdentities = places)
  }
  const viewOver = (host: FileSystemView): FileSystemView => ({
    ...host,
    realPath: (path) => {
      if (rootIdentities.has(path)) return path
      const real = host.realPath(path)
      return fixed.has(path) && real !== path ? undefined : real
    },
    named: (directory, patterns) => {
      const found = host.named(directory, patterns)
      for (const path of found) {
        if (named.has(path) || named.size >= mostParents || !isMovable(path)) continue
        for (const each of deniedPlace(path, isMovable, hold)) named.set(path, each)
      }
      return found
    },
  })
  // `withLocated` returns the same array object as long as its contents are the same, because results are cached with that object as the key.
  let before: string[] = []
  const withLocated = (given: string[]): string[] => {
    const located = locate()
    if (located.size === 0) return given
    const all = [...new Set([...given, ...located.keys()])]
    if (before.length !== all.length || !before.every((path, at) => path === all[at])) before = all
    return before
  }

  return {
    current: (applied) => ({ ...applied, ...paths, deniedReads: withLocated(applied.deniedReads) }),
    identityOf: (path) => rootIdentities.get(path) ?? deniedIdentities.get(path),
    view: viewOver(hostFileSystem),
    look: () => {
      const now = cachedFileSystem()
      return { ...now, ...viewOver(now) }
    },
    putBack: () =>
      denied.flatMap((each) => {
        const now = whereIs(each)
        if (now === undefined || now.path === each.path) return []
        const to = now.path
        const moved = { from: each.path, to, identity: now.identity }
        const isBack = putBack(moved) && whereIs(each)?.path === each.path
        if (!isBack && told.get(each.path) === to) return []
        told.set(each.path, to)
        return [movedDenial(moved, isBack)]
      }),
    known: () => {
      const asked = [policy.workspace, ...policy.writableRoots, ...policy.readableRoots, ...policy.writableFiles]
      const placeOf = (path: string): Place | undefined => {
        const identity = rootIdentities.get(path)
        if (identity !== undefined) return { path, identity }
        return fixed.get(path) === undefined ? undefined : placeAt(path)
      }
      const real = [paths.workspace, ...paths.writableRoots, ...paths.readableRoots, ...paths.writableFiles]
      const places = asked.map((path, index) => [path, placeOf(real[index] ?? path)] as const)
      return { places: new Map(places), denied: [...locate().keys()] }
    },
    close: () => {
      for (const { descriptor } of held.values()) closeSync(descriptor)
      held.clear()
    },
  }
}

function deniedPlace(
  path: string | undefined,
  isMovable: (path: string) => boolean,
  hold: (path: string) => Held | undefined,
): readonly Denied[] {
  if (path === undefined || !isMovable(path)) return []
  const isDirectory = hostFileSystem.kindOf(path) === 'directory'
  const held = hold(isDirectory ? path : dirname(path))
  if (held === undefined) return []
  return [{ path, held, name: isDirectory ? undefined : path.slice(dirname(path).length + 1) }]
}

/** The current path of a denied entry, and its identity. The lookup starts at an entry that is held open, so that renaming can't mislead it. */
function whereIs({ held, name }: Denied): { readonly path: string; readonly identity: Identity } | undefined {
  const at = pathOf(held)
  if (at === undefined) return undefined
  if (name === undefined) return { path: at, identity: held.identity }
  const stat = lstatSync(`/proc/self/fd/${held.descriptor}/${name}`, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? undefined : { path: join(at, name), identity: { device: stat.dev, inode: stat.ino } }
}
