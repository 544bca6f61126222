import { join } from 'node:path'
import process from 'node:process'
import { nestedNames, type NestedNames } from '../nested-places.ts'
import { isWithin } from '../paths.ts'
import type { View } from '../views/view-paths.ts'
import { gitExecutables } from './executables.ts'
import { createQuarantine, NoQuarantine, putSymlink } from '../quarantine.ts'
import type { Denial } from '../sandbox.ts'
import { cleanMadeRepository, isPlainGitFile } from './clean-made.ts'
import { cleanedDenial, denial, gitRule, stuck, tooDeep } from './guard-denials.ts'
import { isBare, repositoryOf } from './repository.ts'
import { identify, linkOnTheWay, withoutLinks } from './entries.ts'
import { createGitScanner, type GitEntry } from './git-scanner.ts'
import type { Trust, TrustRecord } from './trust-record.ts'
import {
  entriesOf,
  isClean,
  isCovered,
  isKnown,
  isNamedGit,
  linksTo,
  nestedIn,
  type RootEntries,
} from './root-entries.ts'

/** The places that `trust` has found. Commands must not be able to change the git entries and the protected paths, some of which may not exist. */
export type GuardedPlaces = {
  readonly gitDirectories: readonly string[]
  readonly gitLinks: readonly string[]
  /** Directories outside the roots to which commits in a linked worktree have to write. */
  readonly repositories: readonly string[]
  readonly protectedPaths: readonly string[]
}

/** Guards the files in the writable roots that control programs of the host. */
type MetadataGuard = {
  /** Trusts the entries that exist now as the host's own, except those that a review has cleaned. Call it only while no command runs. */
  trust(): GuardedPlaces
  /** Returns what the latest call to `trust` returned, without searching the roots again. */
  places(): GuardedPlaces
  /** Cleans the repositories that commands have created since `trust` was called, quarantines other planted entries, and returns the denials. */
  review(): readonly Denial[]
  /**
   * Records that nothing is left to review if this process is killed later, unless the last review failed or could not move an entry away. Call this
   * when no command runs and all changes have been reviewed.
   */
  rest(): void
}

/** Whether commands see a private git directory instead of the repository's own. If so, they can't change the repository. */
const gitIsPrivate = process.platform !== 'darwin'

/**
 * Creates a guard. `roots` are the writable roots without symlinks; `protectedPaths` are absolute. A protected file is trusted by its identity (see
 * `identify`), not by its path: a file stays trusted if a directory above it is moved, and a file put in its place is not trusted. With a `record`,
 * the trusted entries are kept on disk while a review is pending. Roots in `views` aren't reviewed: what commands leave there is judged when it lands,
 * and until then no program of the host finds it; taking it away before would also disturb other commands that are still at work on it.
 */
export function createMetadataGuard(
  roots: readonly string[],
  protectedPaths: readonly string[],
  record?: TrustRecord,
  views: readonly View[] = [],
): MetadataGuard {
  const nothing = { gitDirectories: [], gitLinks: [], repositories: [], protectedPaths }
  const isLive = (root: string): boolean => !views.some(({ source }) => isWithin(root, source))
  return guardFrom({ roots, places: nothing, trusted: [], symlinks: [] }, record, isLive)
}

/** Finishes the review of a killed run, using the entries that the run trusted before its commands ran. */
export function finishReview(trust: Trust): readonly Denial[] {
  return guardFrom(trust, undefined).review()
}

function guardFrom(
  before: Trust,
  record: TrustRecord | undefined,
  isLive: (root: string) => boolean = () => true,
): MetadataGuard {
  const { roots } = before
  const { protectedPaths } = before.places
  const { scan, restore } = createGitScanner()
  const quarantine = createQuarantine(roots)
  const trusted = new Set(before.trusted)
  const symlinks = new Map(before.symlinks)
  // Repositories and plain `.git` files that commands of this run created. The repositories are cleaned after each command, but commands can write to
  // them until the run ends.
  const made = new Set<string>()
  const mixed = new Set<string>()
  let places: GuardedPlaces = before.places
  let isOwed = false

  const names = new Map<string, NestedNames>()
  const namesBelow = (root: string): NestedNames => {
    const known = names.get(root) ?? nestedNames(protectedPaths, root)
    names.set(root, known)
    return known
  }
  const look = (isHosts: (entry: GitEntry) => boolean, isLookedAt = (_: string) => true): readonly RootEntries[] =>
    [...roots, ...places.repositories].filter(isLookedAt).map((root) => ({
      root,
      ...scan(root, namesBelow(root), (entry) =>
        isHosts(entry) ? (gitIsPrivate ? 'nothing' : 'repositories') : 'all',
      ),
    }))

  // `listed` returns the same array object as long as its contents are the same, because results are cached with that object as the key.
  const always = [...new Set(protectedPaths)]
  let last: { readonly others: readonly string[]; readonly all: readonly string[] } = { others: [], all: always }
  const listed = (others: readonly string[]): readonly string[] => {
    const isSame = last.others.length === others.length && last.others.every((path, at) => path === others[at])
    if (!isSame) last = { others, all: others.length === 0 ? always : [...new Set([...always, ...others])] }
    return last.all
  }

  const trust = (): GuardedPlaces => {
    const repositories = roots.flatMap((root) => repositoryOf(root) ?? []).filter((path) => !isCovered(path, roots))
    places = { ...places, repositories }
    trusted.clear()
    mixed.clear()
    const isWhole = ({ path }: GitEntry): boolean => isNamedGit(path) || isBare(path)
    const found = look((entry) => !made.has(entry.key) && isWhole(entry))
    restore()
    const host = (entries: readonly GitEntry[]): readonly GitEntry[] => entries.filter(({ key }) => !made.has(key))
    const all = found.flatMap((each) => host(each.directories))
    const directories = all.filter(isWhole)
    const others = all.filter((entry) => !isWhole(entry))
    for (const { key } of others) mixed.add(key)
    const links = found.flatMap((each) => host(each.links))
    const nested = nestedIn(found, protectedPaths)
    // In a directory that contains other files besides a repository, only the entries that would control git are protected, not the whole directory.
    const obeyed = others.flatMap(({ path }) => gitExecutables.map((name) => join(path, name)))
    places = {
      repositories,
      gitDirectories: directories.map(({ path }) => path),
      gitLinks: links.map(({ path }) => path),
      protectedPaths: listed([...nested, ...obeyed]),
    }
    const deep = found.flatMap((each) => each.deep)
    for (const { key } of [...directories, ...links, ...deep]) trusted.add(key)
    const onTheWay = new Map<string, string | undefined>()
    for (const { root, path } of [
      ...entriesOf(found, places.protectedPaths),
      ...linksTo(found, places.protectedPaths),
    ]) {
      const link = linkOnTheWay(root, path, onTheWay)
      for (const known of link === undefined ? [path] : [path, link]) {
        const identity = identify(known)
        if (identity === undefined) continue
        trusted.add(identity.key)
        if (identity.file !== undefined && gitIsPrivate) trusted.add(identity.file)
        if (identity.target !== undefined) symlinks.set(known, identity.target)
      }
    }
    // If commands can't write anything, they can't plant anything either.
    const live = roots.filter(isLive)
    const kept = { ...places, repositories: repositories.filter(isLive) }
    if (live.length > 0) record?.keep({ roots: live, places: kept, trusted: [...trusted], symlinks: [...symlinks] })
    return places
  }

  const review = (): readonly Denial[] => {
    isOwed = true
    try {
      const found = look(({ key }) => trusted.has(key), isLive)
      const denials = [...reviewGit(found), ...reviewProtected(found)]
      isOwed = denials.some(({ remedy }) => remedy.kind === 'otherwise' && remedy.advice === stuck)
      return denials
    } finally {
      restore()
    }
  }

  /**
   * Moves an entry to quarantine, reports a denial, and returns the new path. If moving fails, the denial says so, and the review continues. If there
   * is no quarantine to move it to, throws `NoQuarantine`.
   */
  const take = (root: string, path: string, rule: string, denials: Denial[]): string | undefined => {
    try {
      const to = quarantine.take(root, path)
      if (to !== undefined) denials.push(denial(path, rule, to))
      return to
    } catch (error) {
      if (error instanceof NoQuarantine) throw error
      const why = error instanceof Error ? error.message : String(error)
      denials.push({
        ...denial(path, rule, why),
        subject: `${path} (still there: ${why})`,
        remedy: { kind: 'otherwise', advice: stuck },
      })
      return undefined
    }
  }

  const reviewProtected = (found: readonly RootEntries[]): readonly Denial[] => {
    const denials: Denial[] = []
    const nested = nestedIn(found, protectedPaths).filter((path) => !places.protectedPaths.includes(path))
    const seenBefore = entriesOf(found, places.protectedPaths)
    for (const seen of [...seenBefore, ...(nested.length === 0 ? [] : entriesOf(found, [...new Set(nested)]))]) {
      if (isKnown(seen, trusted)) continue
      const entry = withoutLinks(seen, trusted, roots)
      if (isKnown(entry, trusted)) continue
      if (take(entry.root, entry.path, 'protectedPaths', denials) === undefined) continue
      const before = symlinks.get(entry.path)
      if (before !== undefined) putSymlink(entry.root, entry.path, before)
    }
    return denials
  }

  /**
   * Cleans the repositories that commands created, and removes other git entries that they planted. Commands can't write to the host's repositories,
   * so any git entry that isn't known comes from a command.
   */
  const reviewGit = (found: readonly RootEntries[]): readonly Denial[] => {
    const denials: Denial[] = []
    for (const { root, directories } of found) {
      for (const { path, key } of directories) {
        if (trusted.has(key) || mixed.has(key)) continue
        const taken: Denial[] = []
        const cleaned = cleanMadeRepository(root, path, (entry) => take(root, entry, gitRule, taken), isClean(found))
        denials.push(...taken, ...cleaned.filter(({ to }) => to === undefined).map((each) => cleanedDenial(each.path)))
        made.add(key)
      }
    }
    for (const { root, deep } of found) {
      for (const { path, key } of deep) if (!trusted.has(key)) take(root, path, tooDeep, denials)
    }
    for (const { root, links } of found) {
      for (const { path, key } of links) {
        if (trusted.has(key)) continue
        if (isPlainGitFile(root, path, isClean(found))) made.add(key)
        else take(root, path, gitRule, denials)
      }
    }
    return denials
  }

  return {
    trust,
    places: () => places,
    review,
    rest: () => {
      if (!isOwed) record?.drop()
    },
  }
}
