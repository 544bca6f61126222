import { join } from 'node:path'
import process from 'node:process'
import { lstatSync, mkdirSync, mkdtempSync } from './host-paths.ts'
import { entriesIn } from './directory-names.ts'
import { isOwnerGone, ownerName } from './run-owner.ts'
import { removeTree } from './remove-tree.ts'
import type { Backend } from './backend.ts'
import { closedBase, scratchBases } from './scratch.ts'

/** The directories on the host that belong to an opened sandbox. */
type RunDirectory = {
  readonly path: string
  /** The directory that commands see as `/tmp`. It exists until the run ends, so later commands find the files of earlier ones. */
  readonly temp: string
  /** For what commands see in place of home directories, if these are closed. It exists as long as `temp`. */
  readonly home: string
  /** An empty directory. It is mounted over directories that must appear empty. */
  readonly empty: string
}

const prefix = 'portcullis-run-'
const passingPrefix = 'portcullis-passing-'

/**
 * Creates the run's directories. Only this user can access them, and commands that can write to `roots` can't reach them. Throws `unavailable` if
 * there is no suitable directory.
 */
export function makeRunDirectory(roots: readonly string[], backend: Backend): RunDirectory {
  const base = closedBase(roots, backend)
  const path = mkdtempSync(join(base, `${prefix}${ownerName(process.pid)}-`))
  const run = { path, temp: join(path, 'tmp'), home: join(path, 'home'), empty: join(path, 'empty') }
  mkdirSync(run.temp, { mode: 0o700 })
  mkdirSync(run.home, { mode: 0o700 })
  mkdirSync(run.empty, { mode: 0o500 })
  return run
}

/**
 * Creates a temporary directory for data of this process that isn't part of a run. `base` must be one of the `scratchBases`. If this process is
 * killed, the directory is removed later, like the directory of a run.
 *
 * @internal
 */
export function makePassingDirectory(base: string): string {
  return mkdtempSync(join(base, `${passingPrefix}${ownerName(process.pid)}-`))
}

/**
 * Removes a run's directory. Entries that can't be removed are ignored, because a finished command should not fail because of them. The first run
 * that starts after this process has ended tries again to remove them.
 */
export async function removeRunDirectory(path: string): Promise<void> {
  await removeTree(path).catch(() => undefined)
}

/**
 * Removes the directories of runs that could not clean up before they ended. Directories of live runs and of other users stay. `finish` is called
 * with each directory before it is removed. If `finish` rejects, the directory stays, and this function rejects too.
 */
export async function reapRunDirectories(finish: (directory: string) => Promise<void>): Promise<void> {
  // These calls are synchronous, because there is nearly always nothing to do, and waiting for other threads would then delay the run's start more
  // than the work itself does.
  for (const { owner, path } of scratchBases().flatMap((base) => directoriesIn(base, [prefix, passingPrefix]))) {
    if (!isOwnerGone(owner)) continue
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.()) continue
    // In a user namespace, users without an id there all seem to be `nobody`, who may run this program.
    if (entriesIn(path) === undefined) continue
    await finish(path)
    // Another process may be removing the same directory, but `removeRunDirectory` ignores errors.
    await removeRunDirectory(path)
  }
}

/**
 * The directories of all runs, including those that have ended.
 *
 * @param bases the places where a run with the current environment may create them (`scratchBases`)
 * @param isSeen returns whether a place matters to the caller. Places that don't matter are skipped, because listing the system's temporary directory
 * may take a long time
 */
export function allRunDirectories(bases: readonly string[], isSeen: (place: string) => boolean): readonly string[] {
  return bases
    .filter(isSeen)
    .flatMap((base) => directoriesIn(base, [prefix]))
    .map(({ path }) => path)
}

type RunDirectoryEntry = { readonly path: string; readonly owner: string }

function directoriesIn(base: string, prefixes: readonly string[]): readonly RunDirectoryEntry[] {
  // A place that can't be read counts as empty. A temporary directory may have thousands of other entries, so only names with the prefix are turned
  // into objects.
  const names = entriesIn(base) ?? []
  return prefixes.flatMap((its) => {
    const own = names.filter((name) => name.startsWith(its))
    return own.map((name) => ({ path: join(base, name), owner: name.slice(its.length) }))
  })
}
