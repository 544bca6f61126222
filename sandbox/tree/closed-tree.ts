import { dirname, join } from 'node:path'
import process from 'node:process'
import { hostFileSystem } from '../file-system-view.ts'
import { homes } from '../homes.ts'
import { lstatSync, mkdirSync, readdirSync } from '../host-paths.ts'
import { kernelPlaceOf } from '../kernel-places.ts'
import { isAnyWithin } from '../path-list.ts'
import { depth, isWithin } from '../paths.ts'
import { credentialPlaces } from '../protected/default-places.ts'
import { pathsAndPatterns, writableRoots } from '../roots.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { symlinksOnPath } from '../symlinks-on-path.ts'
import { followTools } from './follow-tools.ts'
import { withheldEntries } from './public-places.ts'
import { isTemporary, listedPlaces, ownPlaces, publicPlaces, systemPlaces } from './system-places.ts'
import { toolchainPlaces } from './toolchains.ts'

/** What commands see of this machine besides the policy's roots. None of the paths has a symlink, except those at which something else is shown. */
export type ClosedTree = {
  /** Files and directories that aren't there, except for what is shown in them. */
  readonly hidden: readonly string[]
  /** Home directories. In place of each, commands see the run's own directory `source`, to which they can write, and what is shown in it. */
  readonly homes: readonly ShownPlace[]
  /** What is shown, read-only, in places that aren't there: the file or directory `source` of this machine at `path`. */
  readonly shown: readonly NamedPlace[]
  /** Directories of this machine that commands see, and in which they write without changing them. */
  readonly caches: readonly NamedPlace[]
}

/** A file or directory of this machine, and where commands see it. */
type ShownPlace = { readonly path: string; readonly source: string }

/** The same, with what named it: a program of the table of toolchains, a variable, or the system. */
type NamedPlace = ShownPlace & { readonly why: string }

/**
 * Builds the file tree of commands from what is allowed: the policy's roots, the system's programs, and the toolchains in home directories and on the
 * PATH. A home directory in which or above which a root lies is shown by that root.
 *
 * @param directory an empty directory, for what commands see in place of home directories
 */
export function openClosedTree(policy: SandboxPolicy, directory: string): ClosedTree {
  const granted = [
    ...[policy.workspace, ...policy.readableRoots, ...policy.writableFiles].flatMap(realOf),
    ...writableRoots(policy, hostFileSystem),
    ...policy.views.map(({ path }) => path),
  ]
  const isGranted = (path: string): boolean => granted.some((root) => isWithin(path, root))
  const owned = ownHomes().filter(({ real }) => !isGranted(real))
  const shownSystem = systemPlaces.filter((path) => realOf(path)[0] === path)
  const withheld =
    process.geteuid?.() === 0 ? publicPlaces.flatMap(([path, levels]) => withheldEntries(path, levels)) : []
  const hidden = [...listedPlaces.flatMap(unlistedIn), ...withheld].filter((path) => !isGranted(path))
  const closed = new Set([
    ...hidden,
    ...ownPlaces.filter(isTemporary).flatMap(realOf),
    ...owned.map(({ real }) => real),
  ])
  const shown = new Map<string, NamedPlace>()
  const caches = new Map<string, NamedPlace>()
  const opened = new Set(granted)
  const isClosed = (path: string): boolean => {
    for (let at = path; ; at = dirname(at)) {
      if (opened.has(at)) return false
      if (closed.has(at)) return true
      if (at === '/') return false
    }
  }
  const put = (path: string, source: string, why: string): void => {
    shown.set(path, { path, source, why })
    opened.add(path)
  }
  const mayShow = createLimits(policy, owned)
  const show = (named: string, why: string, isCache = false): boolean => {
    const [source] = realOf(named)
    if (source === undefined) return false
    const isLinked = source !== named && symlinksOnPath(named).slice(0, 1).some(isClosed)
    const isCovered = isCache && !isGranted(source)
    if (!isLinked && !isCovered && !isClosed(source)) return true
    if (!mayShow(source, isCache && source === named)) return false
    if (isClosed(source)) put(source, source, why)
    if (isLinked) put(named, source, why)
    if (isCovered && hostFileSystem.kindOf(source) === 'directory')
      for (const path of isLinked ? [source, named] : [source]) caches.set(path, { path, source, why })
    return true
  }
  for (const path of shownSystem) if (isClosed(path)) put(path, path, 'system')
  const places = [...new Set(owned.flatMap(({ named, real }) => [named, real]))]
  const toolchains = places.flatMap((home) =>
    toolchainPlaces().map(({ program, place, isCache }) => ({ path: home + place.slice(1), program, isCache })),
  )
  const present = new Set(hostFileSystem.present(toolchains.map(({ path }) => path)))
  for (const { path, program, isCache } of toolchains) if (present.has(path)) show(path, program, isCache)
  followTools(process.env, { isClosed, show })
  show(process.execPath, 'this program')
  return {
    hidden,
    homes: owned.flatMap(({ named, real }, index) => {
      const source = join(directory, String(index))
      mkdirSync(source, { mode: 0o700 })
      const isLinked = named !== real && symlinksOnPath(named).slice(0, 1).some(isClosed)
      return [{ path: real, source }, ...(isLinked ? [{ path: named, source }] : [])]
    }),
    shown: [...shown.values()],
    caches: [...caches.values()],
  }
}

function realOf(path: string): readonly string[] {
  const real = hostFileSystem.realPath(path)
  return real === undefined ? [] : [real]
}

/** The entries of a directory that are neither listed nor links. A directory in which something is listed is among them. */
function unlistedIn(directory: string): readonly string[] {
  const known: ReadonlySet<string> = new Set([...systemPlaces, ...ownPlaces, ...listedPlaces])
  return namesOf(directory).flatMap((name) => {
    const path = join(directory, name)
    if (known.has(path)) return []
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat === undefined || stat.isSymbolicLink() ? [] : [path]
  })
}

function namesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // The directory doesn't exist, or this user can't list it.
    return []
  }
}

type Home = { readonly named: string; readonly real: string }

/** The home directories that are somebody's own: not those of system users in directories with programs, such as `/bin`. */
function ownHomes(): readonly Home[] {
  const programs = systemPlaces.filter((path) => path !== '/opt')
  return homes().flatMap((named) => {
    const [real] = realOf(named)
    const isOwn =
      real !== undefined &&
      ![...listedPlaces, ...ownPlaces, '/opt'].includes(real) &&
      kernelPlaceOf(real) === undefined &&
      !programs.some((place) => isWithin(real, place))
    return isOwn && hostFileSystem.kindOf(real) === 'directory' ? [{ named, real }] : []
  })
}

/**
 * Returns a function that says whether a directory or file may be shown because a program is in it: not a home directory or a directory above one, not one at
 * the top of a file system, unless it is a cache at its own path, and not a place with credentials, or one in or above it.
 */
function createLimits(policy: SandboxPolicy, owned: readonly Home[]): (real: string, isCache: boolean) => boolean {
  const denied = pathsAndPatterns(policy.deniedReads).paths
  const [known, credentials] = [new Set(denied), credentialPlaces()]
  // What is known about a list is kept with the list itself.
  const secrets = credentials.every((place) => known.has(place)) ? denied : [...new Set([...credentials, ...denied])]
  const places = [...new Set(hostFileSystem.present(secrets).flatMap(realOf))]
  return (real, isCache) => {
    if (depth(real) < 2 || (!isCache && isMountPoint(real))) return false
    if (owned.some((home) => isWithin(home.real, real))) return false
    return !isAnyWithin(places, real) && !places.some((place) => isWithin(real, place))
  }
}

function isMountPoint(path: string): boolean {
  const [own, above] = [path, dirname(path)].map((at) => lstatSync(at, { throwIfNoEntry: false })?.dev)
  return own !== above
}
