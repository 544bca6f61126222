import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { wildcard } from './wildcard.ts'

/** The form in which a policy names all entries with a certain name, at any depth: `**` and a slash, then a name that may contain `*` and `?`. */
const prefix = '**/'

/** Whether an entry in one of the policy's lists is a name pattern, not a path. */
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

/** Directories full of other people's files, which are too many to search. */
const skipped: readonly string[] = ['.git', 'node_modules']

/**
 * The paths below a directory whose name matches one of the patterns. Entries of a matching directory are not listed. Unreadable directories are left
 * out.
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

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // It was removed, or this user can't enter it, so this user's commands can't either.
    return []
  }
}

function namer(pattern: string): (name: string) => boolean {
  return wildcard(pattern.slice(prefix.length), { question: true })
}
