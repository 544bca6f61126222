import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** What a look at a tree found of git in it, and of what else was asked for. */
export type GitEntries = {
  /** Directories that git would take for a repository, a worktree's or a submodule's: `.git` or bare, at any depth. */
  readonly directories: readonly string[]
  /** Files and symlinks named `.git`, which lead git elsewhere. */
  readonly links: readonly string[]
  /** Whatever has one of the names asked for, outside of git's own directories. */
  readonly named: readonly string[]
}

type Seen = {
  readonly inode: number
  readonly changedMs: number
  readonly lookedMs: number
  readonly children: readonly string[]
  readonly isGit: boolean
  readonly gitLink: boolean
  readonly named: readonly string[]
}

/** Directories that git makes and fills itself, and fills with much. */
const ownedByGit: readonly string[] = [
  'objects',
  'refs',
  'logs',
  'info',
  'hooks',
  'lfs',
  'rebase-merge',
  'rebase-apply',
]

/** How old a change must be before an equal time stamp proves that nothing changed since: coarser than any clock's tick. */
const settledMs = 50

/**
 * Finds git's entries below a directory, all of them: there is no depth at which it stops. It remembers each directory's change
 * time, which nobody but root can set, so that a second look reads again only what changed.
 */
export function createGitScanner(): (root: string, names: readonly string[]) => GitEntries {
  const memory = new Map<string, Seen>()
  return (root, names) => {
    const wanted = new Set(names)
    const named: string[] = []
    const directories: string[] = []
    const links: string[] = []
    const stack = [root]
    for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
      const seen = look(path, memory, wanted)
      if (seen === undefined) continue
      if (seen.isGit) directories.push(path)
      if (seen.gitLink) links.push(join(path, '.git'))
      for (const name of seen.named) named.push(join(path, name))
      // Only where git itself is at home: a tree that merely looks like a repository may hold anything.
      const skipped = seen.isGit && path.split('/').includes('.git') ? ownedByGit : []
      for (const child of seen.children) if (!skipped.includes(child)) stack.push(join(path, child))
    }
    return { directories, links, named }
  }
}

function look(path: string, memory: Map<string, Seen>, wanted: ReadonlySet<string>): Seen | undefined {
  let stat: Stats
  try {
    stat = lstatSync(path)
  } catch {
    memory.delete(path)
    return undefined
  }
  const before = memory.get(path)
  if (
    before !== undefined &&
    before.inode === stat.ino &&
    before.changedMs === stat.ctimeMs &&
    before.lookedMs - before.changedMs > settledMs
  ) {
    return before
  }
  try {
    const lookedMs = Date.now()
    const entries = readdirSync(path, { withFileTypes: true })
    const names = new Set(entries.map(({ name }) => name))
    const seen: Seen = {
      inode: stat.ino,
      changedMs: stat.ctimeMs,
      lookedMs,
      children: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
      // As git decides it, but wider: it would also ask what HEAD says.
      isGit: names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs'))),
      gitLink: entries.some((entry) => entry.name === '.git' && !entry.isDirectory()),
      named: entries.map(({ name }) => name).filter((name) => wanted.has(name)),
    }
    memory.set(path, seen)
    return seen
  } catch {
    // It is looked at again every time.
    memory.delete(path)
    return enterOnly(path, stat, wanted)
  }
}

/** A directory that can't be listed may still be entered by whoever knows the names, and git knows them. */
function enterOnly(path: string, stat: Stats, wanted: ReadonlySet<string>): Seen {
  const kindOf = (name: string): 'absent' | 'directory' | 'other' => {
    const entry = lstatOrUndefined(join(path, name))
    return entry === undefined ? 'absent' : entry.isDirectory() ? 'directory' : 'other'
  }
  const has = (name: string): boolean => kindOf(name) !== 'absent'
  return {
    inode: stat.ino,
    changedMs: stat.ctimeMs,
    lookedMs: 0,
    children: ['.git', 'modules', 'worktrees'].filter((name) => kindOf(name) === 'directory'),
    isGit: has('HEAD') && (has('commondir') || (has('objects') && has('refs'))),
    gitLink: kindOf('.git') === 'other',
    named: [...wanted].filter(has),
  }
}

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    // Absent, or not to be entered by git either.
    return undefined
  }
}
