import { constants, lstatSync } from 'node:fs'
import { readTarget } from './link-target.ts'
import { PathError, errnoOf } from './commit-error.ts'

/** The system's limits, in bytes, for a name and for a path without its final NUL (on Linux, `NAME_MAX` and `PATH_MAX` - 1). */
const nameLimit = 255
const pathLimit = 4095

/** The number of links that Linux follows before it reports ELOOP. */
const linkLimit = 40

/** Directories that are known not to be links, so that a thousand files in one folder need only one check. */
export type KnownDirectories = Set<string>

/** Refuses paths that can't name a file, even if unsafe paths are allowed. */
export function checkSpelling(path: string): void {
  if (path === '' || path.includes('\0') || !path.isWellFormed()) throw new PathError('invalid-path', path)
  if (path.endsWith('/') || path.endsWith('/.')) throw new PathError('invalid-path', path, { culprit: '/' })
  for (const name of path.split('/')) {
    if (name.length > nameLimit / 3 && Buffer.byteLength(name) > nameLimit) {
      throw new PathError('too-long', path, { culprit: name })
    }
  }
}

/**
 * Resolves a path: follows every link among its parents, as the system would, and keeps missing components literally. If the last component is a link, `follow`
 * says whether it is followed too.
 *
 * @param isGone whether an existing file or link counts as missing. It isn't called for directories
 * @returns an absolute path without `.`, `..` or links
 */
export function resolvePath(
  path: string,
  from: string,
  follow: boolean,
  known: KnownDirectories,
  isGone: (key: string) => boolean,
): string {
  const pending = path.split('/').reverse()
  let at = path.startsWith('/') ? '' : from === '/' ? '' : from
  let links = 0
  let missing = false
  while (pending.length > 0) {
    const name = pending.pop() ?? ''
    if (name === '' || name === '.') continue
    if (name === '..') {
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
      // `..` leads back to the parent, which may exist even if the entry is missing.
      missing = false
      continue
    }
    const next = `${at}/${name}`
    if (next.length > pathLimit / 3 && Buffer.byteLength(next) > pathLimit) throw new PathError('too-long', path)
    if (missing || known.has(next)) {
      at = next
      continue
    }
    const found = kindOf(next, path)
    const kind = found !== undefined && found !== constants.S_IFDIR && isGone(next) ? undefined : found
    const last = !pending.some((rest) => rest !== '' && rest !== '.')
    if (kind === constants.S_IFLNK && (follow || !last)) {
      links += 1
      if (links > linkLimit) throw new PathError('link-loop', path, { culprit: next })
      const target = readLink(next, path)
      if (target.startsWith('/')) at = ''
      pending.push(...target.split('/').reverse())
      continue
    }
    at = next
    if (kind === undefined) missing = true
    else if (kind === constants.S_IFDIR) known.add(next)
    else if (!last) throw new PathError('not-a-directory', path, { culprit: next })
  }
  return at === '' ? '/' : at
}

/** Whether an absolute, resolved path is the root or below it. */
export function isInside(key: string, root: string): boolean {
  return root === '/' || key === root || (key.startsWith(root) && key[root.length] === '/')
}

/** Turns an absolute path into a path relative to the root that contains it. The result is empty for the root itself. */
export function relativeTo(key: string, root: string): string {
  return root === '/' ? key.slice(1) : key.slice(root.length + 1)
}

function kindOf(key: string, path: string): number | undefined {
  try {
    const stats = lstatSync(key, { throwIfNoEntry: false })
    return stats === undefined ? undefined : stats.mode & constants.S_IFMT
  } catch (error) {
    throw refusal(error, key, path)
  }
}

function readLink(key: string, path: string): string {
  try {
    const target = readTarget(key)
    if (target.isWellFormed()) return target
  } catch (error) {
    throw refusal(error, key, path)
  }
  // Node's functions for text would follow the link to another file.
  throw new PathError('unreadable', path, { resolved: key, errno: 'EILSEQ' })
}

function refusal(error: unknown, key: string, path: string): unknown {
  const errno = errnoOf(error)
  if (errno === undefined) return error
  if (errno === 'ENOTDIR') return new PathError('not-a-directory', path, { culprit: key, errno, cause: error })
  if (errno === 'ENAMETOOLONG') return new PathError('too-long', path, { culprit: key, errno, cause: error })
  if (errno === 'ELOOP') return new PathError('link-loop', path, { culprit: key, errno, cause: error })
  return new PathError('unreadable', path, { resolved: key, errno, cause: error })
}
