import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { hostFileSystem } from '../file-system-view.ts'
import { isNested, nestedAt, nestedNames } from '../nested-places.ts'
import { isWithin } from '../paths.ts'
import { gitExecutables } from '../protected-places.ts'
import { createQuarantine, putFile, putSymlink } from '../quarantine.ts'
import type { Denial } from '../sandbox.ts'
import { pathsFromConfig } from './config.ts'
import { judgeGitEntry, judgeGitLink, type Judgement } from './judge.ts'
import { linkedRepository } from './linked.ts'
import { createGitScanner, type GitEntries } from './scan.ts'
import type { Trust, TrustRecord } from './trust-record.ts'

/** What must be read-only, of what there is now. */
export type GuardedPlaces = {
  readonly gitDirectories: readonly string[]
  readonly gitLinks: readonly string[]
  /** Directories outside the roots that a commit in a linked worktree has to write. */
  readonly repositories: readonly string[]
  readonly protectedPaths: readonly string[]
}

/** Watches over what the host would obey in the writable roots. */
type MetadataGuard = {
  /** Takes what is there now as the host's own. Only while no command runs. */
  trust(): GuardedPlaces
  /** What `trust` found. */
  places(): GuardedPlaces
  /** Moves what a command planted since to quarantine, and says so. */
  review(): readonly Denial[]
  /** To be told when no command runs any more and all were reviewed: nobody has to finish that then. */
  rest(): void
}

/** One thing to look at: what it is decides who judges it. */
type Entry = {
  readonly root: string
  readonly path: string
  readonly as:
    | { readonly kind: 'git'; readonly git: string; readonly name: string }
    | { readonly kind: 'link' }
    | { readonly kind: 'protected' }
}

type Found = GitEntries & { readonly root: string }

/**
 * `roots` are the writable roots without symlinks; `protectedPaths` are absolute. A file counts as trusted by its inode and
 * change time, not by its path: a repository that is moved stays the host's, and a file put in its place does not. With a `record`,
 * what is trusted is on disk for as long as a review is owed.
 */
export function createMetadataGuard(
  roots: readonly string[],
  protectedPaths: readonly string[],
  record?: TrustRecord,
): MetadataGuard {
  const nothing = { gitDirectories: [], gitLinks: [], repositories: [], protectedPaths }
  return guardFrom({ roots, places: nothing, trusted: [], symlinks: [] }, record)
}

/** The review that a killed run owed, from what it trusted before its commands ran. */
export function finishReview(trust: Trust): readonly Denial[] {
  return guardFrom(trust, undefined).review()
}

function guardFrom(before: Trust, record: TrustRecord | undefined): MetadataGuard {
  const { roots } = before
  const { protectedPaths } = before.places
  const scan = createGitScanner()
  const quarantine = createQuarantine()
  const trusted = new Set(before.trusted)
  const symlinks = new Map(before.symlinks)
  let places: GuardedPlaces = before.places

  const look = (): readonly Found[] =>
    [...roots, ...places.repositories].map((root) => ({ root, ...scan(root, nestedNames(protectedPaths, root)) }))

  const trust = (): GuardedPlaces => {
    const repositories = roots.flatMap((root) => linkedRepository(root) ?? []).filter((path) => !isCovered(path, roots))
    places = { ...places, repositories }
    const found = look()
    const gitDirectories = found.flatMap(({ directories }) => directories)
    const gitLinks = found.flatMap(({ links }) => links)
    const named = gitDirectories.flatMap((git) => pathsNamedBy(git, gitLinks, roots))
    const nested = nestedIn(found, protectedPaths)
    const shielded = [...new Set([...protectedPaths, ...named, ...nested])]
    places = { repositories, gitDirectories, gitLinks, protectedPaths: shielded }
    trusted.clear()
    const links = new Map<string, string | undefined>()
    for (const { root, path, as } of entriesOf(found, places.protectedPaths)) {
      const link = linkOnTheWay(root, path, links)
      for (const known of link === undefined ? [path] : [path, link]) {
        const identity = identify(known, known === path ? as.kind : 'protected')
        if (identity === undefined) continue
        trusted.add(identity.key)
        if (identity.target !== undefined) symlinks.set(known, identity.target)
      }
    }
    // Where nothing can be written, nothing can be planted.
    if (roots.length > 0) record?.keep({ roots, places, trusted: [...trusted], symlinks: [...symlinks] })
    return places
  }

  const review = (): readonly Denial[] => {
    const found = look()
    const known = new Set(found.flatMap(({ directories }) => directories))
    const denials: Denial[] = []
    const shielded = [...new Set([...places.protectedPaths, ...nestedIn(found, protectedPaths)])]
    for (const seen of entriesOf(found, shielded)) {
      if (isKnown(seen, trusted)) continue
      const entry = withoutLinks(seen, trusted, roots)
      if (isKnown(entry, trusted)) continue
      const judgement = judge(entry, known)
      if (judgement.verdict === 'harmless') continue
      const to = quarantine.take(entry.root, entry.path)
      if (to === undefined) continue
      const before = symlinks.get(entry.path)
      if (judgement.replacement !== undefined) putFile(entry.root, entry.path, judgement.replacement)
      else if (before !== undefined) putSymlink(entry.root, entry.path, before)
      denials.push(denial(entry, to))
    }
    return denials
  }

  return { trust, places: () => places, review, rest: () => record?.drop() }
}

/** What is protected in every directory, as far as such a thing may exist. */
function nestedIn(found: readonly Found[], protectedPaths: readonly string[]): readonly string[] {
  return found.flatMap(({ root, named }) => named.flatMap((entry) => nestedAt(protectedPaths, root, entry)))
}

/** Whether there is nothing, or what was there before. */
function isKnown({ path, as }: Entry, trusted: ReadonlySet<string>): boolean {
  const identity = identify(path, as.kind)
  return identity === undefined || trusted.has(identity.key)
}

/** The first symlink among the directories between `root` and `path`. What is found out is kept in `known`, by directory. */
function linkOnTheWay(root: string, path: string, known: Map<string, string | undefined>): string | undefined {
  const directory = dirname(path)
  if (directory === root || !isWithin(directory, root)) return undefined
  if (known.has(directory)) return known.get(directory)
  const link = linkOnTheWay(root, directory, known) ?? (hostFileSystem.isSymlink(directory) ? directory : undefined)
  known.set(directory, link)
  return link
}

/** What leads to an entry by a symlink that a command made is that symlink; by one of the host's, what it leads to. */
function withoutLinks(entry: Entry, trusted: ReadonlySet<string>, roots: readonly string[]): Entry {
  const link = linkOnTheWay(entry.root, entry.path, new Map())
  if (link === undefined) return entry
  if (!trusted.has(identify(link, 'protected')?.key ?? '')) return { ...entry, path: link, as: { kind: 'protected' } }
  const directory = hostFileSystem.realPath(dirname(entry.path))
  const root = roots.find((each) => directory !== undefined && isWithin(directory, each))
  // Outside of every root no command could write it.
  return directory === undefined || root === undefined
    ? entry
    : { ...entry, root, path: join(directory, basename(entry.path)) }
}

function entriesOf(found: readonly Found[], protectedPaths: readonly string[]): readonly Entry[] {
  return [
    ...found.flatMap(({ root, directories }) =>
      directories.flatMap((git) => sensitiveNames(git).map((name) => gitEntry(root, git, name))),
    ),
    ...found.flatMap(({ root, links }) => links.map((path): Entry => ({ root, path, as: { kind: 'link' } }))),
    // What a pattern means here is among them by its own path.
    ...protectedPaths.flatMap((path): readonly Entry[] => {
      if (isNested(path)) return []
      const root = found.find(({ root }) => isWithin(path, root))?.root
      return root === undefined ? [] : [{ root, path, as: { kind: 'protected' } }]
    }),
  ]
}

function judge(entry: Entry, known: ReadonlySet<string>): Judgement {
  switch (entry.as.kind) {
    case 'git':
      return judgeGitEntry(entry.root, entry.as.git, entry.as.name, known)
    case 'link':
      return judgeGitLink(entry.path, known)
    case 'protected':
      return { verdict: 'harmful' }
    default:
      return entry.as satisfies never
  }
}

function gitEntry(root: string, git: string, name: string): Entry {
  return { root, path: join(git, name), as: { kind: 'git', git, name } }
}

/** The entries of a git directory to look at: hooks one by one, since samples are harmless and come with every `git init`. */
function sensitiveNames(git: string): readonly string[] {
  const hooks = join(git, 'hooks')
  try {
    if (!lstatSync(hooks).isDirectory()) return gitExecutables
    const names = readdirSync(hooks).filter((name) => !name.endsWith('.sample'))
    return [...gitExecutables.filter((name) => name !== 'hooks'), ...names.map((name) => `hooks/${name}`)]
  } catch {
    // No hooks, no names.
    return gitExecutables
  }
}

/** Hooks and further config that a trusted config names inside the roots. */
function pathsNamedBy(git: string, links: readonly string[], roots: readonly string[]): readonly string[] {
  let text: string
  try {
    text = readFileSync(join(git, 'config'), 'utf8')
  } catch {
    // No config names nothing.
    return []
  }
  const { fromWorktree, fromGit } = pathsFromConfig(text)
  const worktrees = [dirname(git), ...links.map((link) => dirname(link))]
  const named = [
    ...fromWorktree.flatMap((path) => worktrees.map((worktree) => resolve(worktree, path))),
    ...fromGit.map((path) => resolve(git, path)),
  ]
  return named.filter((path) => isAbsolute(path) && isCovered(path, roots) && !roots.includes(path) && path !== git)
}

/** What an entry is, so that the same thing is known again; directories by themselves, not by what is in them. */
function identify(path: string, kind: Entry['as']['kind']): { key: string; target?: string } | undefined {
  try {
    // Most are absent, and an error takes longer to make than to ask.
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return undefined
    const key = `${stat.dev}:${stat.ino}`
    if (stat.isDirectory()) return { key: `${kind} ${key}` }
    const whole = `${kind} ${key}:${stat.ctimeNs}:${stat.size}`
    return stat.isSymbolicLink() ? { key: whole, target: readlinkSync(path) } : { key: whole }
  } catch {
    // Absent, or gone again: nothing to judge.
    return undefined
  }
}

function isCovered(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(path, root))
}

function denial(entry: Entry, to: string): Denial {
  return {
    kind: 'quarantine',
    subject: `${entry.path} (moved to ${to})`,
    rule: entry.as.kind === 'protected' ? 'protectedPaths' : 'git metadata that the host would execute',
    certainty: 'proven',
    remedy: { kind: 'otherwise', advice: `look at ${to} and, if it is wanted, put it in place yourself` },
  }
}
