import { relative } from 'node:path'
import { shellJoin } from './shell-join.ts'

/** How many files are named. More would hide the rest of a result. */
const mostNamed = 5

/**
 * Says which files a view leaves out because they hold secrets, and how to show them; undefined if there are none.
 *
 * @param paths absolute
 * @param from the absolute path of the directory from which the user names files
 */
export function notShownWords(paths: readonly string[], from: string): string | undefined {
  if (paths.length === 0) return undefined
  // What lies near is what a command is about.
  const names = paths.map((path) => relative(from, path)).toSorted((one, other) => depthOf(one) - depthOf(other))
  const rest = names.length - mostNamed
  const named = names.slice(0, mostNamed).map((name) => shellJoin([name]))
  return `not shown: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} (--allow-read ${named[0]})`
}

function depthOf(path: string): number {
  return path.split('/').length
}
