import { closeSync, constants, lstatSync, openSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { FileState, Place } from '../change-set.ts'
import { PathError, ReadError, errnoOf } from './commit-error.ts'
import { findGitDirectories } from './find-git-directories.ts'
import { protectedComponent } from './protected-names.ts'
import { lookThrough, readState } from './read-state.ts'
import { checkSpelling, isInside, relativeTo, resolvePath, type KnownDirectories } from './resolve-path.ts'

/**
 * A view of a tree that is confined to the paths that a patch may access. It resolves paths, refuses those that lead outside, and reads files. It changes
 * nothing, and a commit checks all results again. Open a new view for each plan, because a view remembers which directories are not links.
 */
export type Tree = {
  /** The absolute real path against which relative paths are resolved. */
  readonly root: string
  /** Further trees that paths may lead into; absolute real paths. */
  readonly beside: readonly string[]
  readonly unsafePaths: boolean
  /**
   * The place of the file to which a path leads. Links are followed as long as they don't lead outside.
   *
   * @param isGone whether the patch has already removed the file or link with this key; a directory can then take its place
   * @throws PathError
   */
  readonly locate: (path: string, isGone?: IsGone) => Place
  /** The place of a directory entry. If the last component is a link, this is the place of the link itself. @throws PathError */
  readonly locateEntry: (path: string, isGone?: IsGone) => Place
  /**
   * The present state of a place. Never waits on a pipe, never follows a link.
   *
   * @param isGone whether a link on the way to the place counts as missing, so that the place counts as absent
   * @throws ReadError
   */
  readonly read: (place: Place, isGone?: IsGone) => FileState
  /** The present state of a place without the bytes of its file. @param see receives the bytes in chunks, each with its position */
  readonly look: (place: Place, see?: See, isGone?: IsGone) => FileState
}

/** Whether a change set removes or replaces the file or link with this key. */
type IsGone = (key: string) => boolean
type See = (chunk: Uint8Array, at: number) => void

/**
 * Opens a tree for planning.
 *
 * A path is refused with a `PathError` if it leads out of the root and the trees in `beside` (as an absolute path, through `..`, or through a link, even
 * a dangling one), or if it is at or below a `.git`, in any spelling. `unsafePaths` allows both; a text that can't be a path (with a NUL, too long, with
 * circular links) is always refused.
 *
 * After a crash, call `recover` first: the commit would refuse a plan made from a half-changed tree.
 *
 * @param root an existing directory, like those in `beside`; links in them are resolved here, once
 *
 * @internal
 */
export function openTree(
  root: string,
  options: { readonly unsafePaths: boolean; readonly beside?: readonly string[] },
): Tree {
  const realRoot = realDirectory(root)
  const { unsafePaths } = options
  const beside = (options.beside ?? []).map(realDirectory)
  const roots = [realRoot, ...beside]
  const gitDirectories = unsafePaths ? [] : roots.flatMap(findGitDirectories)
  const known: KnownDirectories = new Set([realRoot])
  const descriptorsTell = canCheckOpened(realRoot)

  const place = (path: string, follow: boolean, isGone: IsGone = () => false): Place => {
    checkSpelling(path)
    const key = trueCase(resolvePath(path, realRoot, follow, known, isGone), isGone)
    if (!unsafePaths) confine(path, key, roots, gitDirectories)
    return { path, key }
  }
  return {
    root: realRoot,
    beside,
    unsafePaths,
    locate: (path, isGone) => place(path, true, isGone),
    locateEntry: (path, isGone) => place(path, false, isGone),
    read: (where, isGone) => read(where, (expected) => readState(where.key, expected), descriptorsTell, isGone),
    look: (where, see = () => undefined, isGone) =>
      read(where, (expected) => lookThrough(where.key, expected, see), descriptorsTell, isGone),
  }
}

/**
 * Refuses a place that is outside all roots or among git's own data.
 *
 * @param key absolute and resolved
 * @throws PathError
 */
export function confine(path: string, key: string, roots: readonly string[], gitDirectories: readonly string[]): void {
  const root = roots.find((one) => isInside(key, one))
  if (root === undefined) throw new PathError('outside-root', path, { resolved: key })
  const culprit =
    protectedComponent(relativeTo(key, root)) ?? protectedComponent(path.startsWith('/') ? '' : path) ?? undefined
  if (culprit !== undefined) throw new PathError('protected', path, { resolved: key, culprit })
  const git = gitDirectories.find((directory) => isInside(key, directory))
  if (git !== undefined) throw new PathError('protected', path, { resolved: key, culprit: git })
}

/** The maximum number of times that a file is read again if another program keeps moving it between opening the file and checking its path. */
const mostReads = 50

function read(
  place: Place,
  act: (expected: string | undefined) => FileState,
  descriptorsTell: boolean,
  isGone: IsGone = () => false,
): FileState {
  for (let reads = 1; ; reads += 1) {
    try {
      const found = act(descriptorsTell ? place.key : undefined)
      const isWhereExpected = descriptorsTell && (found.type === 'file' || found.type === 'unread')
      return found.type === 'absent' || isWhereExpected || !isBelowGone(place.key, isGone) ? found : { type: 'absent' }
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === undefined) throw error
      if (isBelowGone(place.key, isGone)) return { type: 'absent' }
      if (errno !== 'EAGAIN' || reads === mostReads) throw new ReadError(place.path, place.key, errno, error)
    }
  }
}

/** Whether a link on the way to a key counts as missing. The system would follow the link, but the file to which it leads has another key. */
function isBelowGone(key: string, isGone: IsGone): boolean {
  for (let at = dirname(key); at !== '/'; at = dirname(at)) {
    if (isGone(at) && lstatOf(at)?.isSymbolicLink() === true) return true
  }
  return false
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // A component above is a file, a circular link, or a directory that this user may not search.
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}

/** The real path of a root. @throws PathError if it isn't a directory, or can't be accessed */
export function realDirectory(root: string): string {
  try {
    const real = realpathSync.native(resolve(root))
    if (!statSync(real).isDirectory()) throw new PathError('not-a-directory', root, { resolved: real, culprit: real })
    return real
  } catch (error) {
    const errno = errnoOf(error)
    throw errno === undefined ? error : new PathError('unreadable', root, { errno, cause: error })
  }
}

/** Returns a path in which each name is spelled as it is stored. This is necessary because a file must have only one key, and macOS ignores case by default. */
function trueCase(key: string, isGone: IsGone): string {
  if (process.platform !== 'darwin' || isBelowGone(key, isGone)) return key
  if (lstatSync(key, { throwIfNoEntry: false })?.isSymbolicLink() !== false) return key
  return realpathSync.native(key)
}

/** Whether the system can report the real path of an open file, and reports this root's path exactly as it is given. */
function canCheckOpened(root: string): boolean {
  if (process.platform !== 'linux') return false
  const descriptor = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === root
  } catch (error) {
    // Without /proc, reads can't be checked, but writes still are.
    if (errnoOf(error) !== undefined) return false
    throw error
  } finally {
    closeSync(descriptor)
  }
}
