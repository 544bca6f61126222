import { type Stats } from 'node:fs'
import { lstatSync } from './host-paths.ts'
import { namesIn } from './directory-names.ts'
import { hostFileSystem, presentOf, type Asks, type FileSystemView } from './file-system-view.ts'

/** A view of the host's file system that never changes its answer to a query, except to `named`. */
export type CachedFileSystem = FileSystemView & {
  /** The entry at a path, without following a final symlink; undefined if there is no entry, or it can't be reached. */
  readonly lstat: (path: string) => Stats | undefined
}

type Resolved = { readonly real: string; readonly stat: Stats | undefined } | undefined

/**
 * Creates a view of the host's file system that queries the host only once for each path. It is meant for a single decision that looks at the same
 * directories many times. Each answer is what `hostFileSystem` returned at the first query. Only the answers of `named` aren't kept.
 */
export function cachedFileSystem(): CachedFileSystem {
  const stats = new Map<string, Stats | undefined>()
  const lstat: CachedFileSystem['lstat'] = (path) => {
    const known = stats.get(path)
    if (known !== undefined || stats.has(path)) return known
    const stat = lstatOrUndefined(path)
    stats.set(path, stat)
    return stat
  }
  const found = new Map<string, Resolved>()
  const find = (path: string): Resolved => {
    const known = found.get(path)
    if (known !== undefined || found.has(path)) return known
    const result = isPlain(path) ? walkTo(path) : leadsTo(path)
    found.set(path, result)
    return result
  }
  /** Like `find`, but without the test `isPlain`, for paths that are known to pass it, such as the parent of a plain path. */
  const findPlain = (path: string): Resolved => {
    const known = found.get(path)
    if (known !== undefined || found.has(path)) return known
    const result = walkTo(path)
    found.set(path, result)
    return result
  }
  const walkTo = (path: string): Resolved => {
    if (path === '/') return { real: '/', stat: lstat('/') }
    const slash = path.lastIndexOf('/')
    const parent = findPlain(slash === 0 ? '/' : path.slice(0, slash))
    if (parent === undefined) return undefined
    const at = parent.real === '/' ? path.slice(slash) : parent.real + path.slice(slash)
    const stat = lstat(at)
    if (stat === undefined) return undefined
    return stat.isSymbolicLink() ? leadsTo(at) : { real: at, stat }
  }
  const leadsTo = (path: string): Resolved => {
    const real = hostFileSystem.realPath(path)
    return real === undefined ? undefined : { real, stat: lstat(real) }
  }
  const names = new Map<string, ReadonlySet<string> | undefined>()
  const asks: Asks = {
    namesIn: (directory) => {
      if (!names.has(directory)) names.set(directory, namesIn(directory))
      return names.get(directory)
    },
    isDirectory: (directory) => find(directory)?.stat?.isDirectory() === true,
  }
  return {
    ...hostFileSystem,
    present: (paths) => presentOf(paths, asks),
    lstat,
    realPath: (path) => find(path)?.real,
    kindOf: (path) => {
      const stat = find(path)?.stat
      return stat === undefined ? 'absent' : stat.isDirectory() ? 'directory' : 'file'
    },
    isSymlink: (path) => lstat(path)?.isSymbolicLink() === true,
  }
}

/** Whether a path is absolute and already normalized. */
function isPlain(path: string): boolean {
  return path.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(path === '/' ? '' : path)
}

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // The path is below a directory that this user can't enter.
    return undefined
  }
}
