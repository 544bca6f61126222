import { lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { entriesIn } from './directory-names.ts'
import { isOwnerGone, ownerName } from './run-owner.ts'
import { removeTree } from './remove-tree.ts'
import type { Backend } from './backend.ts'
import { closedBase, scratchBases } from './scratch.ts'

/** The directories on the host that one opened sandbox owns. */
type RunDirectory = {
  readonly path: string
  /** The directory that commands see as `/tmp`. It lives as long as the run: later commands find the files of earlier ones. */
  readonly temp: string
  /** An empty directory, mounted over directories that must read as empty. */
  readonly empty: string
}

const prefix = 'portcullis-run-'
const passingPrefix = 'portcullis-passing-'

/**
 * Creates the run's directories, for this user alone and where commands that write to these roots can't reach them. Throws `unavailable` if there is
 * no such place.
 */
export function makeRunDirectory(roots: readonly string[], backend: Backend): RunDirectory {
  const base = closedBase(roots, backend)
  const path = mkdtempSync(join(base, `${prefix}${ownerName(process.pid)}-`))
  const run = { path, temp: join(path, 'tmp'), empty: join(path, 'empty') }
  mkdirSync(run.temp, { mode: 0o700 })
  mkdirSync(run.empty, { mode: 0o500 })
  return run
}

/**
 * Creates a directory below one of `scratchBases` for temporary data of this process that belongs to no run. Like a run's directory, it is removed
 * later if this process is killed.
 *
 * @internal
 */
export function makePassingDirectory(base: string): string {
  return mkdtempSync(join(base, `${passingPrefix}${ownerName(process.pid)}-`))
}

/**
 * Removes a run's directories. Entries that can't be removed stay: they are no reason for a finished command to fail. The next start tries again,
 * because the directory then has no owner.
 */
export async function removeRunDirectory(path: string): Promise<void> {
  await removeTree(path).catch(() => undefined)
}

/**
 * Removes directories of runs that ended without a chance to clean up. Directories of live runs and of other users stay. `finish` gets each directory
 * before it is removed, and keeps it by rejecting.
 */
export async function reapRunDirectories(finish: (directory: string) => Promise<void>): Promise<void> {
  // Synchronous, since there is nearly always nothing to do: waiting for other threads costs a start more time than the work.
  for (const { owner, path } of scratchBases().flatMap((base) => directoriesIn(base, [prefix, passingPrefix]))) {
    if (!isOwnerGone(owner)) continue
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.()) continue
    await finish(path)
    // Another process may be removing the same directory.
    await removeRunDirectory(path)
  }
}

/**
 * The directories of all runs, live and dead, in the places where runs of this environment put them.
 *
 * @param isSeen whether such a place matters at all. Nearly always it doesn't, and listing the system's temporary directory may take long
 */
export function allRunDirectories(isSeen: (place: string) => boolean): readonly string[] {
  return scratchBases()
    .filter(isSeen)
    .flatMap((base) => directoriesIn(base, [prefix]))
    .map(({ path }) => path)
}

type RunDirectoryEntry = { readonly path: string; readonly owner: string }

function directoriesIn(base: string, prefixes: readonly string[]): readonly RunDirectoryEntry[] {
  // A directory that can't be read contains no directory of ours.
  return (entriesIn(base) ?? []).flatMap((name) => {
    const its = prefixes.find((one) => name.startsWith(one))
    return its === undefined ? [] : [{ path: join(base, name), owner: name.slice(its.length) }]
  })
}
