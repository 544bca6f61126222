import { homeDirectory } from '../home.ts'
import { join, relative, resolve, sep } from 'node:path'
import { compileGlob, matchGlob, type GlobPart } from './path-glob.ts'

/** What a permission about files means by its pattern. */
export type PathPattern = {
  /** The folder that the pattern starts from; undefined for the folder of whoever asks. */
  readonly anchor: string | undefined
  /** The pattern below that folder, in gitignore's syntax; one that holds at any depth begins with two stars. */
  readonly glob: string
  /** The folder, or the file, that its fixed beginning names. */
  readonly base: (cwd: string) => string
  /** Whether it means an absolute path. `anyCase` takes letters of both cases for the same, as some file systems do. */
  readonly matches: (path: string, cwd: string, anyCase?: boolean) => boolean
  /** Whether what it means by its fixed beginning lies in a folder, so that whoever removes the folder removes that. */
  readonly liesIn: (folder: string, cwd: string) => boolean
}

/** No path is longer, by limits.h(0p). */
const longestPath = 4_096

/**
 * Reads a pattern in gitignore's syntax with Claude Code's four anchors: `//abs`, `~/home`, `/from-the-settings`, and `./cwd` or
 * `cwd`. A pattern without a slash matches at any depth, and a match of a folder covers what is below it. Undefined where the
 * pattern isn't understood. No pattern and no path makes the test slow: nothing is tried twice.
 */
export function pathPattern(pattern: string, settingsFolder: string): PathPattern | undefined {
  if (pattern === '' || pattern.startsWith('!') || pattern.length > 1_000) return undefined
  const [anchor, rest] = splitAnchor(pattern, settingsFolder)
  const clean = rest.replace(/^\.\//, '').split('/').filter(notEmpty).join('/')
  const anywhere = !clean.includes('/') && !/^(?:\/|~\/|\.\/)/.test(pattern)
  const glob = anywhere ? `**/${clean}` : clean
  const compiled = compileGlob(glob)
  if (compiled === undefined) return undefined
  const lower = compileGlob(glob.toLowerCase()) ?? compiled
  const fixed = fixedBeginning(compiled)
  const below = (path: string, cwd: string): string | undefined => {
    const root = anchor ?? cwd
    const way = relative(root, resolve(root, path)).split(sep).join('/')
    return way === '..' || way.startsWith('../') ? undefined : way
  }
  return {
    anchor,
    glob,
    base: (cwd) => resolve(anchor ?? cwd, ...fixed),
    matches: (path, cwd, anyCase = false) => {
      if (path.length > longestPath) return false
      const way = below(path, cwd)
      if (way === undefined) return false
      return anyCase ? matchGlob(lower, way.toLowerCase()) : matchGlob(compiled, way)
    },
    liesIn: (folder, cwd) => {
      const start = resolve(anchor ?? cwd, ...fixed)
      const way = relative(folder, start)
      return fixed.length > 0 && way !== '..' && !way.startsWith(`..${sep}`)
    },
  }
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

/** An absolute path of a word that a command names: `~` and what is relative to its folder resolved. */
export function absolutePath(word: string, cwd: string): string {
  return word === '~' || word.startsWith('~/') ? join(homeDirectory(), word.slice(1)) : resolve(cwd, word)
}
