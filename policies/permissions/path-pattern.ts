import { homedir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'

/**
 * Makes a test of absolute paths from a pattern in gitignore's syntax with Claude Code's four anchors: `//abs`,
 * `~/home`, `/from-the-settings`, and `./cwd` or `cwd`. A pattern without a slash matches at any depth, and a match
 * of a folder covers what is below it. Undefined where the pattern isn't understood.
 */
export function pathPattern(
  pattern: string,
  settingsFolder: string,
): ((path: string, cwd: string) => boolean) | undefined {
  if (pattern === '' || pattern.startsWith('!') || pattern.length > 1_000) return undefined
  const [anchor, rest] = splitAnchor(pattern, settingsFolder)
  const clean = rest.replace(/\/+$/, '').replace(/^\.\//, '')
  const anywhere = !clean.includes('/') && !/^(?:\/|~\/|\.\/)/.test(pattern)
  const expression = toExpression(clean)
  if (expression === undefined) return undefined
  const matcher = new RegExp(`^${anywhere ? '(?:.*/)?' : ''}${expression}(?:/.*)?$`, 's')
  return (path, cwd) => {
    const root = anchor ?? cwd
    const way = relative(root, resolve(root, path)).split(sep).join('/')
    return way !== '..' && !way.startsWith('../') && matcher.test(way)
  }
}

function splitAnchor(pattern: string, settingsFolder: string): readonly [string | undefined, string] {
  if (pattern.startsWith('//')) return ['/', pattern.slice(2)]
  if (pattern.startsWith('~/')) return [homedir(), pattern.slice(2)]
  if (pattern.startsWith('/')) return [settingsFolder, pattern.slice(1)]
  return [undefined, pattern]
}

/** A gitignore pattern as a regular expression without nested repetition. */
function toExpression(pattern: string): string | undefined {
  let expression = ''
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at)
    if (rest.startsWith('**/')) {
      expression += '(?:[^/]+/)*'
      at += 2
    } else if (rest === '**') {
      expression += '.*'
      at += 1
    } else if (rest.startsWith('*')) expression += '[^/]*'
    else if (rest.startsWith('?')) expression += '[^/]'
    else if (rest.startsWith('[')) {
      const set = /^\[(!?)((?:\\.|[^\]\\/])+)\]/.exec(rest)
      if (set === null) return undefined
      expression += `[${set[1] === '!' ? '^/' : ''}${(set[2] ?? '').replace(/[[^]/g, '\\$&')}]`
      at += set[0].length - 1
    } else if (rest.startsWith('\\')) {
      expression += escape(rest[1] ?? '\\')
      at += 1
    } else expression += escape(rest[0] ?? '')
  }
  return expression
}

function escape(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** An absolute path of a word that a command names: `~` and what is relative to its folder resolved. */
export function absolutePath(word: string, cwd: string): string {
  return word === '~' || word.startsWith('~/') ? join(homedir(), word.slice(1)) : resolve(cwd, word)
}
