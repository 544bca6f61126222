import { join } from 'node:path'
import { lstatSync } from '../host-paths.ts'
import process from 'node:process'
import { nestedAt, nestedNames, type NestedNames } from '../nested-places.ts'
import { isWithin } from '../paths.ts'
import { gitExecutables } from './executables.ts'
import { createGitScanner, type GitEntries } from './git-scanner.ts'
import { isBare, isNamedGit, repositoryOf } from './repository.ts'
import type { View } from '../views/view-paths.ts'

/** The places in the writable roots that commands must not be able to change, some of which may not exist. */
export type GuardedPlaces = {
  readonly gitDirectories: readonly string[]
  readonly gitLinks: readonly string[]
  /** Directories outside the roots to which commits in a linked worktree have to write. */
  readonly repositories: readonly string[]
  readonly protectedPaths: readonly string[]
}

/** Finds the guarded places. */
export type PlaceFinder = {
  /** Searches the roots. What exists now is what the next commands can't change. */
  find(): GuardedPlaces
  /** Returns what the latest call of `find` returned, without searching the roots again. */
  known(): GuardedPlaces
}

/** How much of a repository is searched: nothing, if commands see a private git directory in its place. */
const ofRepository = process.platform === 'darwin' ? 'repositories' : 'nothing'

/**
 * Creates a finder. `roots` are the writable roots without symlinks; `protectedPaths` are absolute. Outside views, commands may go on to change the
 * repositories that they have made: those that the first search doesn't find.
 */
export function createPlaceFinder(
  roots: readonly string[],
  protectedPaths: readonly string[],
  views: readonly View[] = [],
): PlaceFinder {
  const { scan, restore } = createGitScanner()
  const names = new Map<string, NestedNames>()
  const namesBelow = (root: string): NestedNames => {
    const known = names.get(root) ?? nestedNames(protectedPaths, root)
    names.set(root, known)
    return known
  }
  const isInView = (path: string): boolean => views.some(({ source }) => isWithin(path, source))
  // A root that is itself a repository stays writable.
  const isWhole = (path: string): boolean =>
    (isNamedGit(path) || isBare(path)) && (isInView(path) || !roots.includes(path))

  // `listed` returns the same array object as long as its contents are the same, because results are cached with that object as the key.
  const always = [...new Set(protectedPaths)]
  let last: { readonly others: readonly string[]; readonly all: readonly string[] } = { others: [], all: always }
  const listed = (others: readonly string[]): readonly string[] => {
    const isSame = last.others.length === others.length && last.others.every((path, at) => path === others[at])
    if (!isSame) last = { others, all: others.length === 0 ? always : [...new Set([...always, ...others])] }
    return last.all
  }

  let first: ReadonlySet<string> | undefined
  let places: GuardedPlaces = { gitDirectories: [], gitLinks: [], repositories: [], protectedPaths }
  const find = (): GuardedPlaces => {
    const isCovered = (path: string): boolean => roots.some((root) => isWithin(path, root))
    const repositories = roots.flatMap((root) => repositoryOf(root) ?? []).filter((path) => !isCovered(path))
    const found = [...roots, ...repositories].map((root) => ({
      root,
      ...scan(root, namesBelow(root), (path) => (isWhole(path) ? ofRepository : 'all')),
    }))
    restore()
    const now = found.flatMap(({ directories, links }) => [...directories, ...links])
    // A repository that a command has moved is still the one that was there.
    const known = (first ??= new Set([...now, ...now.flatMap(identityOf)]))
    const isMade = (path: string): boolean =>
      !known.has(path) && !isInView(path) && !identityOf(path).some((each) => known.has(each))
    const all = found.flatMap(({ directories }) => directories).filter((path) => !isMade(path))
    const nested = found.flatMap((each) => nestedIn(each, protectedPaths))
    // In a directory that contains other files besides a repository, only the entries that would control git are protected, not the whole directory.
    const mixed = all.filter((path) => !isWhole(path))
    const obeyed = mixed.flatMap((path) => gitExecutables.map((name) => join(path, name)))
    places = {
      repositories,
      gitDirectories: all.filter(isWhole),
      gitLinks: found.flatMap(({ links }) => links).filter((path) => !isMade(path)),
      protectedPaths: listed([...nested, ...obeyed]),
    }
    return places
  }
  return { find, known: () => places }
}

/** What stays the same about an entry when it is moved; empty if it doesn't exist. */
function identityOf(path: string): readonly string[] {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? [] : [`${stat.dev}:${stat.ino}`]
}

/** The paths that are protected because of entries of `protectedPaths` that apply in every directory. Not all of these paths exist. */
function nestedIn(
  { root, named }: GitEntries & { readonly root: string },
  protectedPaths: readonly string[],
): readonly string[] {
  return named.flatMap((entry) => nestedAt(protectedPaths, root, entry))
}
