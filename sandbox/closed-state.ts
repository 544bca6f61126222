import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { hostFileSystem } from './file-system-view.ts'
import { symlinksOnPath } from './symlinks-on-path.ts'
import { stateDirectory, sharedDirectories } from './app-directories.ts'
import { isWithin } from './paths.ts'

/**
 * Where to store what must outlive a run, so that commands which write to `roots` can't reach it: the user's own folder, or, where a root
 * contains that, as when the home is the workspace, a private one in `/var/tmp` or the temporary directory. No symlink leads to it.
 *
 * @param preferred the user's own folder
 * @throws Error that says why none of them is usable
 * @internal
 */
export function closedState(roots: readonly string[], preferred: string = stateDirectory()): string {
  const real = roots.flatMap((root) => [root, hostFileSystem.realPath(root) ?? root])
  const faults: string[] = []
  for (const path of [preferred, ...sharedStates()]) {
    const plain = withoutLinks(path)
    // A link in a root may lead anywhere by the time that it is followed.
    const reached = [path, plain, ...symlinksOnPath(path)].find((each) => isReached(each, real))
    if (reached !== undefined) faults.push(`commands could write to ${reached}`)
    else if (path === preferred || makeShared(dirname(plain))) return plain
    else faults.push(`${dirname(plain)} is not this user's alone`)
  }
  throw new Error(`${faults.join(', ')}: set XDG_STATE_HOME to a directory outside of what commands write to`)
}

/** All folders that `closedState` may have given, by whatever roots, as far as they are there. */
export function closedStates(preferred: string = stateDirectory()): readonly string[] {
  const shared = sharedStates().map(withoutLinks)
  const there = shared.filter((path) => hostFileSystem.kindOf(path) === 'directory' && isPrivate(dirname(path)))
  return [...new Set([withoutLinks(preferred), ...there])]
}

/** Whether a root holds a directory, and does so for commands too: what lies deeper in a root is hidden from them where it is ours or the system's. */
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

/** A path as the system takes it: what is not there yet lies where the nearest directory really is. */
function withoutLinks(path: string): string {
  for (let [at, below] = [path, '']; ; [at, below] = [dirname(at), join(basename(at), below)]) {
    const real = hostFileSystem.realPath(at)
    if (real !== undefined) return join(real, below)
    if (at === '/') throw new Error("/ can't be looked at")
  }
}

/** In a directory that all share: whoever comes first must be this user, and nobody else may write to it, or rename it. */
function makeShared(path: string): boolean {
  try {
    const { mode, uid } = statSync(dirname(path))
    if (uid !== process.geteuid?.() && (mode & 0o1000) === 0) return false
    mkdirSync(path, { mode: 0o700 })
  } catch {
    // It is there already, or can't be made.
  }
  return isPrivate(path)
}

function isPrivate(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === process.geteuid?.() && (stat.mode & 0o022) === 0
}
