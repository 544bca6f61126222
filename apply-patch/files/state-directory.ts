import { lstatSync, mkdirSync, statSync, type Stats } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { crc32 } from './crc32.ts'
import { errnoOf } from './commit-error.ts'
import { isInside } from './resolve-path.ts'

/**
 * A possible location of journals: the folders named in `below`, inside the directory `anchor`. An anchor of the kind `mine` is created if it is missing, and
 * belongs to this user; a `home` must exist. A `home` (as in an image that any user may run) or a `shared` anchor of another user is safe only if it has the
 * sticky bit.
 */
type Candidate = {
  readonly kind: 'mine' | 'home' | 'shared'
  readonly anchor: string
  readonly below: readonly string[]
}

/**
 * The folders in which journals may be stored, in order of preference: `$XDG_STATE_HOME/portcullis/apply-patch`, `~/.local/state/portcullis/apply-patch`, then
 * `portcullis-UID/apply-patch` in `/var/tmp` (which outlives a reboot) and in the temporary folder, for users without a writable home. Of these folders, the
 * ones outside the tree come first.
 *
 * @param chosen the caller's own folder, which is then the only candidate
 */
function candidates(root: string, chosen: string | undefined): readonly Candidate[] {
  if (chosen !== undefined) return [{ kind: 'mine', anchor: resolve(chosen), below: [] }]
  const xdg = process.env['XDG_STATE_HOME'] ?? ''
  const own = `portcullis-${process.geteuid?.() ?? 0}`
  const all: readonly Candidate[] = [
    ...(isAbsolute(xdg) ? [{ kind: 'mine' as const, anchor: xdg, below: ['portcullis', 'apply-patch'] }] : []),
    { kind: 'home', anchor: home(), below: ['.local', 'state', 'portcullis', 'apply-patch'] },
    { kind: 'shared', anchor: '/var/tmp', below: [own, 'apply-patch'] },
    { kind: 'shared', anchor: resolve(tmpdir()), below: [own, 'apply-patch'] },
  ]
  const inside = (candidate: Candidate): boolean => isInside(join(candidate.anchor, ...candidate.below), root)
  return [...all.filter((candidate) => !inside(candidate)), ...all.filter(inside)]
}

/**
 * Returns the folder for the journals of one tree, and creates it if necessary. Only this user can write to the folder, so that nobody else can plant a journal
 * that a recovery would carry out.
 *
 * @param tried folders that can't be used, and why. Those that are found to be unusable are added
 * @returns undefined if no folder can be used
 */
export function makeStateDirectory(
  root: string,
  chosen: string | undefined,
  tried: { path: string; reason: string }[],
): { path: string; isNew: boolean } | undefined {
  for (const candidate of candidates(root, chosen)) {
    const path = join(candidate.anchor, ...candidate.below, nameFor(root))
    if (tried.some((one) => one.path === path)) continue
    try {
      if (isSafe(candidate) && isPrivateDirectory(path)) return { path, isNew: false }
      const reason = makePrivate(candidate, nameFor(root))
      if (reason === undefined) return { path, isNew: true }
      tried.push({ path, reason })
    } catch (error) {
      const reason = errnoOf(error)
      if (reason === undefined) throw error
      tried.push({ path, reason })
    }
  }
  return undefined
}

/** The existing folders for the journals of a tree. There can be several, because a crashed run may have had other environment variables. */
export function findStateDirectories(root: string, chosen: string | undefined): readonly string[] {
  return usable(root, chosen)
    .map((candidate) => join(candidate.anchor, ...candidate.below, nameFor(root)))
    .filter(isPrivateDirectory)
}

/** The existing folders, directly below `stateRoots`, that contain the journals of a tree. */
export function journalFolders(root: string, stateRoots: readonly string[]): readonly string[] {
  return stateRoots.map((parent) => join(parent, nameFor(root))).filter(isPrivateDirectory)
}

/** The existing state folders of this user. Each contains one folder of journals for each tree. */
export function findStateRoots(chosen: string | undefined): readonly string[] {
  return usable('/dev/null', chosen)
    .map((candidate) => join(candidate.anchor, ...candidate.below))
    .filter(isPrivateDirectory)
}

function usable(root: string, chosen: string | undefined): readonly Candidate[] {
  const found = candidates(root, chosen).filter((candidate) => {
    try {
      return isSafe(candidate)
    } catch (error) {
      // A home directory that this user can't read contains no journals of this user.
      if (errnoOf(error) !== undefined) return false
      throw error
    }
  })
  return found.filter((one, index) => found.findIndex((other) => other.anchor === one.anchor) === index)
}

/**
 * The name of a tree's folder: human-readable, and almost always unique. If two trees get the same name, they share a folder, and their journals
 * say to which tree they belong.
 */
function nameFor(root: string): string {
  const plain = basename(root)
    .replace(/[^\w.-]/g, '_')
    .slice(0, 80)
  return `${plain === '' ? 'root' : plain}-${crc32(Buffer.from(root)).toString(16).padStart(8, '0')}`
}

/** Creates the folders below a candidate's anchor. @returns why it can't be used; undefined if it can */
function makePrivate(candidate: Candidate, last: string): string | undefined {
  const { kind, anchor, below } = candidate
  if (kind === 'mine') makeAnchor(anchor)
  if (!isSafe(candidate)) return 'it belongs to another user, or other users can write to it'
  const isOfOthers = kind === 'shared' || !isOurs(nearest(anchor))
  let at = anchor
  for (const name of [...below, last]) {
    at = join(at, name)
    try {
      mkdirSync(at, { mode: 0o700 })
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
    if (isOfOthers && !isPrivateDirectory(at)) return `other users can write to ${at}`
  }
  return isPrivateDirectory(at) ? undefined : `other users can write to ${at}`
}

/**
 * Creates the caller's own folder, but not the home directory that it may be in. Node's recursive mkdir isn't used, because it never returns below `/proc`, where
 * the kernel reports existing folders as missing.
 */
function makeAnchor(path: string): void {
  if (path === resolve(home()) || isMade(path)) return
  makeAnchor(dirname(path))
  if (!isMade(path)) mkdirSync(path, { mode: 0o700 })
}

/** Creates a folder if it is missing. Returns false if its parent is missing too. */
function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT' && dirname(path) !== path) return false
    if (errno === 'EEXIST') return true
    throw error
  }
}

/**
 * Whether an anchor is safe. If the anchor is missing, its nearest existing ancestor is examined instead. A safe anchor belongs to this user. An
 * anchor that isn't `mine` may also belong to another user who can't rename this user's entries in it (because it has the sticky bit). Then, and if it is
 * `shared`, the first folder below it must be private or missing.
 */
function isSafe({ kind, anchor, below }: Candidate): boolean {
  const stats = nearest(anchor)
  if (kind === 'mine' || (kind === 'home' && isOurs(stats))) return isOurs(stats)
  if (!isOurs(stats) && (stats.mode & 0o1000) === 0) return false
  const first = lstatSync(join(anchor, below[0] ?? ''), { throwIfNoEntry: false })
  return first === undefined || isPrivate(first)
}

function isOurs(stats: Stats): boolean {
  return stats.uid === process.geteuid?.()
}

function nearest(path: string): Stats {
  for (let at = path; ; at = dirname(at)) {
    const stats = statSync(at, { throwIfNoEntry: false })
    if (stats !== undefined) return stats
    if (at === '/') return statSync('/')
  }
}

function isPrivateDirectory(path: string): boolean {
  try {
    return isPrivate(lstatSync(path, { throwIfNoEntry: false }))
  } catch (error) {
    // If a parent of the path is a file or an unreadable folder, it contains no journals of this user.
    if (errnoOf(error) !== undefined) return false
    throw error
  }
}

function isPrivate(stats: Stats | undefined): boolean {
  return stats !== undefined && stats.isDirectory() && isOurs(stats) && (stats.mode & 0o022) === 0
}

/** `$HOME`, or, if that is not an absolute path, the home directory in the password file; `/nonexistent` if there is neither. */
function home(): string {
  const named = process.env['HOME'] ?? ''
  if (isAbsolute(named)) return named
  try {
    const { homedir } = userInfo()
    return isAbsolute(homedir) ? homedir : '/nonexistent'
  } catch (error) {
    // The user has neither `HOME` nor an entry in the password file.
    if (errnoOf(error) !== undefined) return '/nonexistent'
    throw error
  }
}
