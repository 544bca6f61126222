import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { lstatSync, mkdirSync, statSync } from './host-paths.ts'
import { hostFileSystem } from './file-system-view.ts'
import { symlinksOnPath } from './symlinks-on-path.ts'
import { stateDirectory, sharedDirectories } from './app-directories.ts'
import { isWithin } from './paths.ts'

/**
 * Returns a directory for data that outlives a run. Commands that can write to `roots` can't reach it. Normally this is the user's own state folder.
 * If commands could reach that folder, for example because the workspace is the home directory, the result is a private folder in `/var/tmp` or in
 * the temporary directory. The returned path contains no symlinks.
 *
 * @param preferred the user's own folder
 * @throws Error that says why none of these folders is usable
 * @internal
 */
export function closedState(roots: readonly string[], preferred: string = stateDirectory()): string {
  const real = roots.flatMap((root) => [root, hostFileSystem.realPath(root) ?? root])
  const faults: string[] = []
  for (const path of [preferred, ...sharedStates()]) {
    const plain = withoutLinks(path)
    // The symlinks on the path are checked too: a command that can change one of them could make the path lead somewhere else later.
    const reached = [path, plain, ...symlinksOnPath(path)].find((each) => isReached(each, real))
    if (reached !== undefined) faults.push(`commands could write to ${reached}`)
    else if (path === preferred || makeShared(dirname(plain))) return plain
    else faults.push(`${dirname(plain)} is not private to this user`)
  }
  throw new Error(`${faults.join(', ')}: set XDG_STATE_HOME to a directory that commands can't write to`)
}

/** The user's own state folder, and all existing private folders that `closedState` could have returned instead, for any roots. */
export function closedStates(preferred: string = stateDirectory()): readonly string[] {
  const shared = sharedStates().map(withoutLinks)
  const there = shared.filter((path) => hostFileSystem.kindOf(path) === 'directory' && isPrivate(dirname(path)))
  return [...new Set([withoutLinks(preferred), ...there])]
}

/**
 * Whether commands can reach a path because it is in one of the roots. They can't if the path is in `/tmp` or `/run` and the root is a parent of that
 * directory, because both directories are hidden from commands.
 */
export function isReached(path: string, roots: readonly string[]): boolean {
  const hidden = ['/tmp', '/run'].map((place) => hostFileSystem.realPath(place) ?? place)
  return roots.some(
    (root) =>
      isWithin(path, root) && !hidden.some((place) => isWithin(path, place) && isWithin(place, root) && place !== root),
  )
}

function sharedStates(): readonly string[] {
  return sharedDirectories().map((place) => join(place, 'state'))
}

/** The path without symlinks. If nothing exists there yet, its nearest existing parent is resolved. */
function withoutLinks(path: string): string {
  for (let [at, below] = [path, '']; ; [at, below] = [dirname(at), join(basename(at), below)]) {
    const real = hostFileSystem.realPath(at)
    if (real !== undefined) return join(real, below)
    if (at === '/') throw new Error("/ can't be read")
  }
}

/**
 * Creates the parent of a state folder, in a directory that all users share. Returns whether the parent is private to this user, which means that
 * nobody else can write to it or rename it.
 */
function makeShared(path: string): boolean {
  try {
    const { mode, uid } = statSync(dirname(path))
    if (uid !== process.geteuid?.() && (mode & 0o1000) === 0) return false
    mkdirSync(path, { mode: 0o700 })
  } catch {
    // The folder already exists, or it can't be created.
  }
  return isPrivate(path)
}

function isPrivate(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === process.geteuid?.() && (stat.mode & 0o022) === 0
}
