import { lstatSync, readlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { hostFileSystem } from '../file-system-view.ts'
import { encodePath } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'

/** One protected entry, and the root that it lies in. */
export type Entry = { readonly root: string; readonly path: string }

/** The first symlink among the directories between `root` and `path`. What is found out is kept in `known`, by directory. */
export function linkOnTheWay(root: string, path: string, known: Map<string, string | undefined>): string | undefined {
  const directory = dirname(path)
  if (directory === root || !isWithin(directory, root)) return undefined
  if (known.has(directory)) return known.get(directory)
  const link = linkOnTheWay(root, directory, known) ?? (hostFileSystem.isSymlink(directory) ? directory : undefined)
  known.set(directory, link)
  return link
}

/** What leads to an entry by a symlink that a command made is that symlink; by one of the host's, what it leads to. */
export function withoutLinks(entry: Entry, trusted: ReadonlySet<string>, roots: readonly string[]): Entry {
  const link = linkOnTheWay(entry.root, entry.path, new Map())
  if (link === undefined) return entry
  if (!trusted.has(identify(link)?.key ?? '')) return { ...entry, path: link }
  const directory = hostFileSystem.realPath(dirname(entry.path))
  const root = roots.find((each) => directory !== undefined && isWithin(directory, each))
  // Outside of every root no command could write it.
  return directory === undefined || root === undefined
    ? entry
    : { ...entry, root, path: join(directory, basename(entry.path)) }
}

/**
 * What an entry is, so that the same thing is known again; directories by themselves, not by what is in them. `file` is a file of one name by
 * itself, whatever is in it: while it is mounted read-only, only the host can have changed it in place.
 */
export function identify(path: string): { key: string; file?: string; target?: string } | undefined {
  try {
    // Most are absent, and an error takes longer to make than to ask.
    const stat = lstatSync(encodePath(path), { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return undefined
    const key = `${stat.dev}:${stat.ino}`
    if (stat.isDirectory()) return { key: `protected ${key}` }
    const whole = `protected ${key}:${stat.ctimeNs}:${stat.size}`
    if (stat.isSymbolicLink()) return { key: whole, target: readlinkSync(encodePath(path), 'utf8') }
    return stat.isFile() && stat.nlink === 1n ? { key: whole, file: `mounted ${key}` } : { key: whole }
  } catch {
    // Absent, or gone again: nothing to judge.
    return undefined
  }
}
