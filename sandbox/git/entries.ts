import { basename, dirname, join } from 'node:path'
import { hostFileSystem } from '../file-system-view.ts'
import { lstatSync, readlinkSync } from '../host-paths.ts'
import { isWithin } from '../paths.ts'

/** A protected entry, and the root that contains it. */
export type Entry = { readonly root: string; readonly path: string }

/** Finds the first symlink among the directories between `root` and `path`. Results are cached in `known`, under the directory's path. */
export function linkOnTheWay(root: string, path: string, known: Map<string, string | undefined>): string | undefined {
  const directory = dirname(path)
  if (directory === root || !isWithin(directory, root)) return undefined
  if (known.has(directory)) return known.get(directory)
  const link = linkOnTheWay(root, directory, known) ?? (hostFileSystem.isSymlink(directory) ? directory : undefined)
  known.set(directory, link)
  return link
}

/**
 * If the path to an entry leads through a symlink that a command created, returns that symlink. If the symlink belongs to the host, returns the entry
 * to which the path leads. Without a symlink, or if the path leads nowhere or outside all roots, returns the entry itself.
 */
export function withoutLinks(entry: Entry, trusted: ReadonlySet<string>, roots: readonly string[]): Entry {
  const link = linkOnTheWay(entry.root, entry.path, new Map())
  if (link === undefined) return entry
  if (!trusted.has(identify(link)?.key ?? '')) return { ...entry, path: link }
  const directory = hostFileSystem.realPath(dirname(entry.path))
  const root = roots.find((each) => directory !== undefined && isWithin(directory, each))
  // An entry that doesn't exist or is outside all roots is returned unchanged: in the latter case, no command can write to it.
  return directory === undefined || root === undefined
    ? entry
    : { ...entry, root, path: join(directory, basename(entry.path)) }
}

/**
 * Texts by which an entry is recognized. `key` identifies a directory regardless of its contents, and any other entry only as long as it is
 * unchanged. For a file that has only one name, `file` identifies it even after its contents have changed: while such a file is mounted read-only,
 * only the host can change it in place. For a symlink, `target` is its text. The result is undefined if there is no entry, or if it can't be reached.
 */
export function identify(path: string): { key: string; file?: string; target?: string } | undefined {
  try {
    // Most entries don't exist, and creating an error takes longer than checking first.
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return undefined
    const key = `${stat.dev}:${stat.ino}`
    if (stat.isDirectory()) return { key: `protected ${key}` }
    const whole = `protected ${key}:${stat.ctimeNs}:${stat.size}`
    if (stat.isSymbolicLink()) return { key: whole, target: readlinkSync(path) }
    return stat.isFile() && stat.nlink === 1n ? { key: whole, file: `mounted ${key}` } : { key: whole }
  } catch {
    // The entry was removed in the meantime, or can't be reached, so there is nothing to check.
    return undefined
  }
}
