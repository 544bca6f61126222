import { basename, dirname } from 'node:path'
import { lstatSync, realpathSync, statSync } from './host-paths.ts'
import { namesIn } from './directory-names.ts'
import { homes } from './homes.ts'
import { findNamed } from './name-pattern.ts'
import { memoize } from './memoize.ts'

type Kind = 'file' | 'directory' | 'absent'

/** The queries about the host's files that decisions about paths need. This is an interface so that decisions can be tested without a disk. */
export type FileSystemView = {
  /** The type of the entry at a path, after following symlinks. Sockets, pipes and devices count as files. */
  kindOf(path: string): Kind
  /** The path without symlinks; undefined if nothing exists there, or if it can't be reached. */
  realPath(path: string): string | undefined
  /** Whether the last component of a path is itself a symlink. */
  isSymlink(path: string): boolean
  /** Returns those of the paths that may exist. The others are missing or out of reach, so they need no further work. */
  present(paths: readonly string[]): readonly string[]
  /** The entries below a directory whose names match one of the patterns. */
  named(directory: string, patterns: readonly string[]): readonly string[]
}

/** The machine's own file system. */
export const hostFileSystem: FileSystemView = {
  named: findNamed,
  present: (paths) => presentOf(paths),
  kindOf: (path) => {
    try {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat === undefined ? 'absent' : stat.isDirectory() ? 'directory' : 'file'
    } catch {
      // The path is in a directory that this user can't enter, so no command of this user could reach it either.
      return 'absent'
    }
  },
  realPath: (path) => {
    try {
      // Most of the queried paths don't exist, and creating an error takes longer than checking first.
      return statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync(path)
    } catch {
      // The path contains a loop of symlinks, or a directory that this user can't enter.
      return undefined
    }
  },
  isSymlink: (path) => {
    try {
      return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    } catch {
      // The path can't be reached, so no command could use a symlink there.
      return false
    }
  },
}

/** The minimum number of paths in one directory for which listing the directory takes less time than querying each path. */
const worthListing = 6

/** The minimum number of paths for which it saves time to list the home directories first. */
const worthLookingHome = 64

/** A directory, and those paths of a list that are directly in it. */
type Inside = {
  readonly directory: string
  readonly parent: string
  /** The directory's own name, in the form that `namesIn` returns. */
  readonly name: string
  /** The last components of the paths, in the form that `namesIn` returns. */
  readonly names: readonly string[]
  /** The position of each path in the whole list. */
  readonly places: readonly number[]
}

/** Like `dirname`, but faster for paths that are absolute and normalized, as most are. */
function parentOf(path: string): string {
  return path.endsWith('/') ? dirname(path) : path.slice(0, Math.max(path.lastIndexOf('/'), 1))
}

function nameOf(path: string): string {
  return path.endsWith('/') ? basename(path) : path.slice(path.lastIndexOf('/') + 1)
}

/** Groups the paths of a list by directory, outer directories first. The result is cached, because the same lists are used often. */
const groupsOf = memoize((paths: readonly string[]): readonly Inside[] => {
  const groups = new Map<string, { readonly names: string[]; readonly places: number[] }>()
  for (let place = 0; place < paths.length; place += 1) {
    const path = paths[place] ?? ''
    const directory = parentOf(path)
    let group = groups.get(directory)
    if (group === undefined) groups.set(directory, (group = { names: [], places: [] }))
    group.names.push(nameOf(path).toLowerCase())
    group.places.push(place)
  }
  return [...groups]
    .toSorted(([a], [b]) => a.length - b.length)
    .map(([directory, inside]) => ({
      directory,
      parent: parentOf(directory),
      name: nameOf(directory).toLowerCase(),
      ...inside,
    }))
})

/** The queries about directories that are needed to find out which paths exist. */
export type Asks = {
  readonly namesIn: (directory: string) => ReadonlySet<string> | undefined
  readonly isDirectory: (directory: string) => boolean
}

/**
 * The result for a list of paths, namely which of them may exist, and the queries that led to it, in order. As long as the queries have the same
 * answers, the result is the same.
 */
type Find = {
  readonly asked: readonly {
    readonly what: keyof Asks
    readonly directory: string
    readonly answer: unknown
  }[]
  readonly present: readonly string[]
}

const lastFinds = new WeakMap<readonly string[], Find>()
const askHost: Asks = { namesIn, isDirectory: (path) => hostFileSystem.kindOf(path) === 'directory' }

/**
 * Returns those of the paths that may exist.
 *
 * @param asks answers the queries about directories; by default, it queries the host's file system
 */
export function presentOf(paths: readonly string[], asks: Asks = askHost): readonly string[] {
  const last = lastFinds.get(paths)
  if (last?.asked.every(({ what, directory, answer }) => asks[what](directory) === answer) === true) return last.present
  const find = findPresent(paths, asks)
  // If `namesIn` returns a new set for each call, the cached result is never used, which does no harm.
  lastFinds.set(paths, find)
  return find.present
}

/** Queries each directory once, and skips directories that are missing from the listing of their parent. */
function findPresent(paths: readonly string[], asks: Asks): Find {
  const listed = new Map<string, ReadonlySet<string> | undefined>()
  const asked: Find['asked'][number][] = []
  const absent = new Set<number>()
  const remember = <Answer>(what: keyof Asks, directory: string, answer: Answer): Answer => {
    asked.push({ what, directory, answer })
    return answer
  }
  const possible =
    paths.length < worthLookingHome
      ? paths
      : withoutMissing(paths, (home) => {
          const names = remember('namesIn', home, asks.namesIn(home))
          listed.set(home, names)
          return names
        })
  for (const { directory, parent, name, names, places } of groupsOf(possible)) {
    if (listed.get(parent)?.has(name) === false) {
      listed.set(directory, noNames)
    } else if (places.length >= worthListing) {
      if (!listed.has(directory)) listed.set(directory, remember('namesIn', directory, asks.namesIn(directory)))
    } else {
      if (!remember('isDirectory', directory, asks.isDirectory(directory)))
        for (const place of places) absent.add(place)
      continue
    }
    const found = listed.get(directory)
    if (found === undefined) continue
    for (let at = 0; at < names.length; at += 1) if (!found.has(names[at] ?? '')) absent.add(places[at] ?? -1)
  }
  return { asked, present: possible.filter((_, place) => !absent.has(place)) }
}

/**
 * Removes from a list the paths that don't exist according to a listing of the user's home directories. There are many of them, because most
 * protected paths belong to programs that a user doesn't have.
 */
function withoutMissing(
  paths: readonly string[],
  namesOf: (home: string) => ReadonlySet<string> | undefined,
): readonly string[] {
  const looked = homes().map((home) => ({ below: `${home}/`, names: namesOf(home) }))
  return paths.filter((path) => {
    for (const { below, names } of looked) {
      if (!path.startsWith(below)) continue
      const end = path.indexOf('/', below.length)
      if (names?.has(path.slice(below.length, end === -1 ? undefined : end).toLowerCase()) === false) return false
    }
    return true
  })
}

const noNames: ReadonlySet<string> = new Set()
