import { homeDirectory } from '../home.ts'
import { join, relative, resolve, sep } from 'node:path'
import { mayOverlap } from './glob-overlap.ts'
import { compileGlob, matchGlob, type GlobPart } from './path-glob.ts'

/** The file pattern of a permission. */
export type PathPattern = {
  /** The folder to which the pattern is relative. Undefined: the folder of the action. */
  readonly anchor: string | undefined
  /** The pattern relative to the anchor, in gitignore's syntax. A pattern that matches at any depth begins with `**`. */
  readonly glob: string
  /** The folder or file named by the part of the pattern before its first wildcard. */
  readonly base: (cwd: string) => string
  /** Whether the pattern begins with a wildcard. If so, it may match a file anywhere below its anchor. */
  readonly isAnywhere: boolean
  /** Whether the pattern matches an absolute path. `anyCase` ignores the case of letters, as some file systems do. */
  readonly matches: (path: string, cwd: string, anyCase?: boolean) => boolean
  /** Whether a shell's pattern for absolute paths may match a file that this pattern matches, or a path below such a file. Case is ignored. */
  readonly mayMeet: (pattern: string, cwd: string) => boolean
  /** Whether the part before the first wildcard is inside a folder. If so, removing the folder removes everything that the pattern matches. */
  readonly liesIn: (folder: string, cwd: string) => boolean
}

/** The maximum length of a path on Linux (PATH_MAX). */
const longestPath = 4_096

/**
 * Parses a pattern in gitignore's syntax with Claude Code's four anchors: `//abs`, `~/home`, `/from-the-settings`, and `./cwd` or `cwd`. A pattern without a
 * slash matches at any depth, and a match of a folder covers everything below it. Undefined if the pattern isn't understood. Matching is fast for every pattern
 * and path, because matching goes back only to the last wildcard.
 */
export function pathPattern(pattern: string, settingsFolder: string): PathPattern | undefined {
  if (pattern === '' || pattern.startsWith('!') || pattern.length > 1_000) return undefined
  const [anchor, rest] = splitAnchor(pattern, settingsFolder)
  const clean = rest.replace(/^\.\//, '').split('/').filter(notEmpty).join('/')
  const anywhere = !clean.includes('/') && !/^(?:\/|~\/|\.\/)/.test(pattern)
  const glob = anywhere ? `**/${clean}` : clean
  const compiled = compileGlob(glob)
  if (compiled === undefined) return undefined
  const lower = glob === glob.toLowerCase() ? compiled : (compileGlob(glob.toLowerCase()) ?? compiled)
  const fixed = fixedBeginning(compiled)
  let last: { readonly cwd: string; readonly base: string } | undefined
  const base = (cwd: string): string => {
    if (last?.cwd !== cwd) last = { cwd, base: resolve(anchor ?? cwd, ...fixed) }
    return last.base
  }
  return {
    anchor,
    glob,
    base,
    isAnywhere: fixed.length === 0,
    matches: (path, cwd, anyCase = false) => {
      if (path.length > longestPath) return false
      const way = wayBelow(anchor ?? cwd, path)
      if (way === undefined) return false
      return anyCase ? matchGlob(lower, way.lower) : matchGlob(compiled, way.names)
    },
    mayMeet: (pattern, cwd) => {
      const way = wayBelow(anchor ?? cwd, pattern)
      return way !== undefined && mayOverlap(lower, way.lower)
    },
    liesIn: (folder, cwd) => {
      const way = relative(folder, base(cwd))
      return fixed.length > 0 && way !== '..' && !way.startsWith(`..${sep}`)
    },
  }
}

type Way = { readonly names: readonly string[]; readonly lower: readonly string[] }

/** The results of `wayBelow`. They are cached because the same few paths are compared with every pattern. */
const ways = new Map<string, Way | undefined>()
const mostWays = 64

/** The names that lead from a folder down to a path. Undefined if the path isn't below the folder. */
function wayBelow(root: string, path: string): Way | undefined {
  const key = `${root}\0${path}`
  if (ways.has(key)) return ways.get(key)
  if (ways.size >= mostWays) ways.clear()
  const names = relative(root, resolve(root, path)).split(sep).filter(notEmpty)
  const way = names[0] === '..' ? undefined : { names, lower: names.map((name) => name.toLowerCase()) }
  ways.set(key, way)
  return way
}

function notEmpty(part: string): boolean {
  return part !== ''
}

function fixedBeginning(parts: readonly GlobPart[]): readonly string[] {
  const end = parts.findIndex((part) => typeof part !== 'string')
  return (end < 0 ? parts : parts.slice(0, end)).filter((part) => typeof part === 'string')
}

function splitAnchor(pattern: string, settingsFolder: string): readonly [string | undefined, string] {
  if (pattern.startsWith('//')) return ['/', pattern.slice(2)]
  if (pattern.startsWith('~/')) return [homeDirectory(), pattern.slice(2)]
  if (pattern.startsWith('/')) return [settingsFolder, pattern.slice(1)]
  return [undefined, pattern]
}

/** The absolute path that a word of a command names, with `~` and relative paths resolved. */
export function absolutePath(word: string, cwd: string): string {
  return word === '~' || word.startsWith('~/') ? join(homeDirectory(), word.slice(1)) : resolve(cwd, word)
}
