import { basename, join, relative } from 'node:path'
import { memoize } from './memoize.ts'
import { isWithin } from './paths.ts'
import { wildcard } from './wildcard.ts'

/**
 * The text between a root and a path that is protected in the root and in every directory below it. It contains a NUL character, which no path can
 * contain, so no directory name can be mistaken for it.
 */
const anywhere = '\0/'

/** The protected path that stands for `name` in `root` and in every directory below it. Components of `name` may contain `*`. */
export function nestedPlace(root: string, name: string): string {
  return `${root === '/' ? '' : root}/${anywhere}${name}`
}

/** Whether a protected path stands for many paths: one in each directory of a root. */
export function isNested(path: string): boolean {
  return path.includes(anywhere)
}

/** The name of directories that contain other people's programs. Nobody opens these programs as projects, so nested paths in them aren't protected. */
export const spared = 'node_modules'

/** Decides which entries of a directory may be nested protected paths, or may contain such paths. */
export type NestedNames = {
  readonly matches: (name: string) => boolean
  /** The names that are not patterns. If a directory can't be listed, each of them can be queried. */
  readonly exact: readonly string[]
}

/** The names of entries to look for. If a directory below `root` has no entry with one of these names, it contains no nested protected path. */
export function nestedNames(patterns: readonly string[], root: string): NestedNames {
  const first = patterns.filter(isNested).flatMap((pattern) => {
    const parts = splitNested(pattern)
    return parts.root === root ? parts.rest.slice(0, 1) : []
  })
  const exact = [...new Set(first.filter((name) => !name.includes('*')))]
  const known = new Set(exact.map(plainName))
  const tests = [...new Set(first.filter((name) => name.includes('*')))].map(namer)
  return {
    exact,
    matches: (name) => {
      const plain = plainName(name)
      return known.has(plain) || tests.some((expression) => expression(plain))
    },
  }
}

/** The protected paths at or inside an entry below `root`: one for each pattern whose first name matches the entry's; none in `node_modules`. */
export function nestedAt(patterns: readonly string[], root: string, entry: string): readonly string[] {
  if (relative(root, entry).split('/').includes(spared)) return []
  return patterns.filter(isNested).flatMap((pattern) => {
    const { root: from, rest } = splitNested(pattern)
    const [first = '', ...below] = rest
    return from === root && matchesName(basename(entry), first) ? [join(entry, ...below)] : []
  })
}

/** Finds the nested protected path to which a path belongs. The patterns are split only once, because many paths are queried. */
export const nestedPlaces = memoize((patterns: readonly string[]): ((path: string) => string | undefined) => {
  const byRoot = new Map<string, NamePath[]>()
  for (const { root, rest } of patterns.filter(isNested).map(splitNested)) {
    const known = byRoot.get(root) ?? []
    byRoot.set(root, known)
    known.push(rest.map((name) => (name.includes('*') ? namer(name) : plainName(name))))
  }
  return (path) => {
    for (const [root, all] of byRoot) {
      if (!isWithin(path, root)) continue
      const parts = relative(root, path).split('/')
      const plain = parts.map(plainName)
      // Nested paths inside `node_modules` aren't protected (see `spared`).
      const from = parts.indexOf(spared)
      const last = from === -1 ? parts.length - 1 : from
      for (const names of all) {
        for (let at = 0; at <= last; at += 1) {
          if (names.every((name, offset) => isNamed(plain[at + offset], name))) {
            return join(root, ...parts.slice(0, at + names.length))
          }
        }
      }
    }
    return undefined
  }
})

/**
 * Finds the nested protected paths that lie below a path, and returns the names that follow the path's own. A name that is a pattern, and what follows
 * it, is left out.
 */
export const nestedAhead = memoize(
  (patterns: readonly string[]): ((path: string) => readonly (readonly string[])[]) => {
    const long = patterns
      .filter(isNested)
      .map(splitNested)
      .filter(({ rest }) => rest.length > 1)
    return (path) =>
      long.flatMap(({ root, rest }) => {
        const parts = path === root || !isWithin(path, root) ? [] : relative(root, path).split('/')
        if (parts.includes(spared)) return []
        return rest.slice(1).flatMap((_, before) => {
          const own = rest.slice(0, before + 1)
          const end = parts.slice(-own.length)
          if (end.length < own.length || !own.every((name, at) => matchesName(end[at], name))) return []
          const after = rest.slice(before + 1)
          const pattern = after.findIndex((name) => name.includes('*'))
          return [pattern === -1 ? after : after.slice(0, pattern)]
        })
      })
  },
)

/** The names of a nested path in order. Each is either a name in the form in which it is compared, or a test for the names that match a pattern. */
type NamePath = readonly (string | ((plain: string) => boolean))[]

function isNamed(plain: string | undefined, name: NamePath[number]): boolean {
  return plain !== undefined && (typeof name === 'string' ? plain === name : name(plain))
}

/** Splits a nested protected path into its root and the names that follow. These names form a path that is protected in every directory of the root. */
export function splitNested(pattern: string): { readonly root: string; readonly rest: readonly string[] } {
  const at = pattern.indexOf(anywhere)
  return { root: pattern.slice(0, at - 1) || '/', rest: pattern.slice(at + anywhere.length).split('/') }
}

/** Whether at least one file system treats `name` as the protected name. This is decided by the most lenient comparison (see `plainName`). */
function matchesName(name: string | undefined, pattern: string): boolean {
  if (name === undefined) return false
  const plain = plainName(name)
  return pattern.includes('*') ? namer(pattern)(plain) : plain === plainName(pattern)
}

/**
 * Normalizes a name as the most lenient file system would before comparing it. It removes differences of case and composition (APFS, NTFS),
 * characters without a width (HFS+), and spaces and dots at the end (NTFS).
 */
function plainName(name: string): string {
  if (/^[a-z0-9._-]*[a-z0-9_-]$/.test(name)) return name
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .replace(/[. ]+$/, '')
}

function namer(pattern: string): (name: string) => boolean {
  return wildcard(plainName(pattern))
}
