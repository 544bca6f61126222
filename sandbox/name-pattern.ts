import { join } from 'node:path'
import { readEntriesSync, type HostEntry } from './host-paths.ts'
import { wildcard } from './wildcard.ts'

/**
 * The beginning of a name pattern. A name pattern matches all entries with a certain name, at any depth. It consists of `**`, a slash, and a name
 * that may contain `*` and `?`.
 */
const prefix = '**/'

/** Whether an entry in one of the policy's lists is a name pattern rather than a path. */
export function isNamePattern(entry: string): boolean {
  return entry.startsWith(prefix)
}

/**
 * Whether a path that is relative to a root has a component that matches one of the patterns.
 *
 * @internal
 */
export function matchesName(relativePath: string, patterns: readonly string[]): boolean {
  return relativePath.split('/').some((name) => patterns.some((pattern) => namer(pattern)(name)))
}

/** Directories that are not searched, because they contain too many files, and none of these files are the user's own. */
const skipped: readonly string[] = ['.git', 'node_modules']

/**
 * Finds the entries below a directory whose names match one of the patterns. It doesn't search directories that match a pattern, those in `skipped`,
 * or those that can't be read.
 */
export function findNamed(directory: string, patterns: readonly string[]): readonly string[] {
  const means = patterns.map(namer)
  const found: string[] = []
  const stack = [directory]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const entry of entriesOf(at)) {
      if (means.some((each) => each(entry.name))) found.push(join(at, entry.name))
      else if (entry.isDirectory() && !skipped.includes(entry.name)) stack.push(join(at, entry.name))
    }
  }
  return found
}

function entriesOf(directory: string): readonly HostEntry[] {
  try {
    return readEntriesSync(directory)
  } catch {
    // The directory was removed, or this user can't enter it. Then the user's commands can't enter it either.
    return []
  }
}

function namer(pattern: string): (name: string) => boolean {
  return wildcard(pattern.slice(prefix.length), { question: true })
}
