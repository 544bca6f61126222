import { basename, dirname } from 'node:path'
import { hostFileSystem } from '../file-system-view.ts'
import { isNested, nestedAt } from '../nested-places.ts'
import { memoize } from '../memoize.ts'
import { isWithin } from '../paths.ts'
import { identify, type Entry } from './entries.ts'
import type { GitEntries } from './git-scanner.ts'

/** The git entries in a writable root. */
export type RootEntries = GitEntries & { readonly root: string }

/**
 * Returns a function that tells whether a path is one of the git directories in `found`, or the directory of a worktree or submodule inside one of
 * them. All directories in `found` belong to the host or have been cleaned.
 */
export function isClean(found: readonly RootEntries[]): (path: string) => boolean {
  const known = new Set(found.flatMap(({ directories }) => directories.map(({ path }) => path)))
  const isOne = (path: string): boolean => {
    const holder = /^(.*)\/(?:worktrees\/[^/]+|modules\/.+)$/s.exec(path)?.[1]
    return known.has(path) || (holder !== undefined && isOne(holder))
  }
  return isOne
}

/** Whether a path's last component is `.git`, in any mixture of upper and lower case. */
export function isNamedGit(path: string): boolean {
  return basename(path).toLowerCase() === '.git'
}

/** The paths that are protected because of entries of `protectedPaths` that apply in every directory. Not all of these paths exist. */
export function nestedIn(found: readonly RootEntries[], protectedPaths: readonly string[]): readonly string[] {
  return found.flatMap(({ root, named }) => named.flatMap((entry) => nestedAt(protectedPaths, root, entry)))
}

/** Whether the entry at a path is trusted. Also true if nothing exists there. */
export function isKnown({ path }: Entry, trusted: ReadonlySet<string>): boolean {
  const identity = identify(path)
  if (identity === undefined || trusted.has(identity.key)) return true
  return identity.file !== undefined && trusted.has(identity.file)
}

/** Those of the given protected paths that exist in the roots. */
export function entriesOf(found: readonly RootEntries[], protectedPaths: readonly string[]): readonly Entry[] {
  const within = rootsOf(protectedPaths)(found.map(({ root }) => root))
  return hostFileSystem.present(within.paths).map((path) => ({ root: within.roots.get(path) ?? path, path }))
}

/** Finds the root of each protected path. Patterns are skipped, because the list already contains the paths that match them. */
const rootsOf = memoize((protectedPaths: readonly string[]) => {
  type Within = {
    readonly among: string
    readonly paths: readonly string[]
    readonly roots: ReadonlyMap<string, string>
  }
  const named = protectedPaths.filter((path) => !isNested(path))
  let known: Within | undefined
  return (among: readonly string[]): Within => {
    const key = among.join('\0')
    if (known?.among === key) return known
    const roots = new Map(
      named.flatMap((path) => {
        const root = among.find((each) => isWithin(path, each))
        return root === undefined ? [] : [[path, root] as const]
      }),
    )
    return (known = { among: key, paths: [...roots.keys()], roots })
  }
})

/** The host's own symlinks in the paths of protected entries, whether the entries exist or not. */
export function linksTo(found: readonly RootEntries[], protectedPaths: readonly string[]): readonly Entry[] {
  // Paths outside all roots are left out, because none of their parent directories is in a root.
  const { paths } = rootsOf(protectedPaths)(found.map(({ root }) => root))
  const entries = entriesOf(found, directoriesAbove(paths))
  return entries.filter(({ root, path }) => path !== root && hostFileSystem.isSymlink(path))
}

const directoriesAbove = memoize((paths: readonly string[]): readonly string[] => {
  const above = new Set<string>()
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) above.add(at)
  return [...above]
})

/** Whether a path is in one of the roots. */
export function isCovered(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(path, root))
}
