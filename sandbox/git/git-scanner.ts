import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import process from 'node:process'
import { isSettled, stampsByDevice } from '../directory-names.ts'
import type { NestedNames } from '../nested-places.ts'
import { decodeName, encodePath, hasRawBytes, encodeText } from '../path-bytes.ts'
import { isNamedGit } from './repository.ts'

/** What a scan found in a tree: git's entries, and entries with requested names. */
export type GitEntries = {
  /**
   * Directories that git would use as a repository or as the directory of a worktree or submodule, at any depth, and all directories named `.git`.
   */
  readonly directories: readonly string[]
  /** Entries named `.git`, in any case, that are not directories. Git takes such an entry as a pointer to a directory elsewhere. */
  readonly links: readonly string[]
  /** The paths of all entries outside the host's git directories that have one of the requested names. */
  readonly named: readonly string[]
}

type CachedDirectory = {
  readonly inode: number
  readonly changedMs: number
  readonly children: readonly string[]
  readonly isGit: boolean
  /** The names of those entries that aren't directories and are called `.git`, in any mixture of upper and lower case. */
  readonly links: readonly string[]
  readonly named: readonly string[]
}

/**
 * The longest path to examine, in bytes. A system call accepts 4,095 bytes. Deeper entries can only be reached one directory at a time, and nothing
 * can be mounted on them by a path.
 */
const longestPath = 3800

/** Whether a path is longer than `longestPath`. Its bytes are counted only if it may be: a UTF-16 code unit has at most three bytes in UTF-8. */
function isTooLong(path: string): boolean {
  return path.length * 3 > longestPath && encodeText(path).length > longestPath
}

/** Scans trees. Paths are in the form that `decodeName` returns. */
type GitScanner = {
  /**
   * Finds all of git's entries in a directory tree, and the entries with one of the requested names, at any depth.
   *
   * @param below returns how much of a repository to examine: everything, only the repositories in its `modules` and `worktrees`, or nothing
   */
  scan(root: string, names: NestedNames, below: (path: string) => 'all' | 'repositories' | 'nothing'): GitEntries
  /** Restores the modes of directories that the scan had to make readable. */
  restore(): void
}

/**
 * Creates a scanner. It remembers each directory's change time, which nobody but root can set, so that the next scan reads only directories that may
 * have changed.
 */
export function createGitScanner(): GitScanner {
  const memory = new Map<string, CachedDirectory>()
  const opened = new Map<string, number>()
  const scan: GitScanner['scan'] = (root, wanted, below) => {
    const named: string[] = []
    const directories: string[] = []
    const links: string[] = []
    const areProofs = stampsByDevice()
    const stack = [root]
    for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
      const stat = lstatOrUndefined(path)
      if (stat === undefined) continue
      if (isTooLong(path)) continue
      const seen = look(path, stat, memory, wanted, opened, areProofs)
      if (seen === undefined) continue
      let { children } = seen
      if (seen.isGit || isNamedGit(path)) {
        directories.push(path)
        const enter = below(path)
        if (enter === 'nothing') continue
        if (enter === 'repositories') children = children.filter((name) => name === 'modules' || name === 'worktrees')
      }
      for (const name of seen.links) links.push(`${path}/${name}`)
      for (const name of seen.named) named.push(join(path, name))
      for (const child of children) stack.push(join(path, child))
    }
    return { directories, links, named }
  }
  return {
    scan,
    restore: () => {
      for (const [path, mode] of [...opened].toReversed()) changeMode(path, () => mode)
      opened.clear()
    },
  }
}

function join(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`
}

function look(
  path: string,
  stat: Stats,
  memory: Map<string, CachedDirectory>,
  wanted: NestedNames,
  opened: Map<string, number>,
  areProofs: ReturnType<typeof stampsByDevice>,
): CachedDirectory | undefined {
  const before = memory.get(path)
  if (before?.inode === stat.ino && before.changedMs === stat.ctimeMs) return before
  memory.delete(path)
  const listedMs = Date.now()
  let entries = list(path)
  // A command may have made the directory unreadable. If this user owns the directory, that can be undone.
  const bits = stat.mode & 0o7777
  if ((bits & 0o700) !== 0o700 && (entries === undefined || (bits & 0o100) === 0) && process.geteuid?.() !== 0) {
    if (changeMode(path, (mode) => mode | 0o700)) {
      opened.set(path, bits)
      entries = list(path)
    }
  }
  if (entries === undefined) return enterOnly(path, stat, wanted)
  const names = new Set(entries.map(({ name }) => name))
  const seen: CachedDirectory = {
    inode: stat.ino,
    changedMs: stat.ctimeMs,
    children: entries.filter((entry) => entry.directory).map(({ name }) => name),
    // Git's own criteria are stricter: it also checks the content of HEAD.
    isGit: names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs'))),
    links: entries.filter((entry) => !entry.directory && entry.name.toLowerCase() === '.git').map(({ name }) => name),
    named: entries.map(({ name }) => name).filter((name) => wanted.matches(name)),
  }
  if (!opened.has(path) && isSettled(stat.ctimeMs, listedMs) && areProofs(encodePath(path), stat.dev))
    memory.set(path, seen)
  return seen
}

/**
 * The entries of a directory; their names also represent bytes that aren't valid UTF-8 (see `decodeName`). The result is undefined if the directory
 * can't be read.
 */
function list(path: string): readonly { readonly name: string; readonly directory: boolean }[] | undefined {
  try {
    const entries = readdirSync(encodePath(path), { withFileTypes: true, encoding: 'latin1' })
    return entries.map((entry) => ({ name: decodeName(entry.name), directory: entry.isDirectory() }))
  } catch {
    // The directory was removed in the meantime, or is unreadable.
    return undefined
  }
}

/** Changes the mode of a directory, but only if this user owns it. Returns whether the mode was changed. */
function changeMode(path: string, next: (mode: number) => number): boolean {
  const pathOnly = process.platform === 'linux' ? 0o1000_0000 : 0
  try {
    const held = openSync(encodePath(path), constants.O_DIRECTORY | constants.O_NOFOLLOW | pathOnly)
    try {
      const stat = fstatSync(held)
      if (stat.uid !== process.geteuid?.()) return false
      chmodSync(process.platform === 'linux' ? `/proc/self/fd/${held}` : path, next(stat.mode & 0o7777))
      return true
    } finally {
      closeSync(held)
    }
  } catch {
    // The directory belongs to somebody else, or has been removed.
    return false
  }
}

/**
 * Looks for git's own names, and for the exact names in `wanted`, in a directory that can't be listed. A program that knows a name can still reach
 * its entry.
 */
function enterOnly(path: string, stat: Stats, wanted: NestedNames): CachedDirectory {
  const kindOf = (name: string): 'absent' | 'directory' | 'other' => {
    const entry = lstatOrUndefined(join(path, name))
    return entry === undefined ? 'absent' : entry.isDirectory() ? 'directory' : 'other'
  }
  const has = (name: string): boolean => kindOf(name) !== 'absent'
  return {
    inode: stat.ino,
    changedMs: stat.ctimeMs,
    children: ['.git', 'modules', 'worktrees'].filter((name) => kindOf(name) === 'directory'),
    isGit: has('HEAD') && (has('commondir') || (has('objects') && has('refs'))),
    links: kindOf('.git') === 'other' ? ['.git'] : [],
    named: wanted.exact.filter(has),
  }
}

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(hasRawBytes(path) ? encodePath(path) : path, { throwIfNoEntry: false })
  } catch {
    // Git can't enter the directory either.
    return undefined
  }
}
