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
  /** What commands see as `/tmp`. Lives as long as the run: what one command leaves there the next one finds. */
  readonly temp: string
  /** Stands in for directories that must read as empty. */
  readonly empty: string
}

const prefix = 'portcullis-run-'
const passingPrefix = 'portcullis-passing-'

/**
 * Makes the run's directories, for this user alone, where commands that write to these roots can't get at them. Throws `unavailable` when
 * there is no such place.
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
 * Makes a directory below one of `scratchBases` for something of this process that is no run's: it is removed as a run's is when this
 * process was killed.
 *
 * @internal
 */
export function makePassingDirectory(base: string): string {
  return mkdtempSync(join(base, `${passingPrefix}${ownerName(process.pid)}-`))
}

/**
 * Removes a run's directories. What resists even so stays: it is no reason for a command that is over to fail, and the next start tries
 * again, as nobody owns it then.
 */
export async function removeRunDirectory(path: string): Promise<void> {
  await removeTree(path).catch(() => undefined)
}

/**
 * Removes what runs left behind that ended without a chance to clean up. Live runs, and other users', are spared. `finish` gets
 * each directory before it is removed, and keeps it from that by rejecting.
 */
export async function reapRunDirectories(finish: (directory: string) => Promise<void>): Promise<void> {
  // At once, since there is nearly always nothing to do: what waits for other threads costs a start more than the work.
  for (const { owner, path } of scratchBases().flatMap((base) => directoriesIn(base, [prefix, passingPrefix]))) {
    if (!isOwnerGone(owner)) continue
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.()) continue
    await finish(path)
    // Somebody else may be reaping the same one.
    await removeRunDirectory(path)
  }
}

/** The directories of all runs, live and dead, as far as they lie where runs of this environment put them. */
export function allRunDirectories(): readonly string[] {
  return scratchBases()
    .flatMap((base) => directoriesIn(base, [prefix]))
    .map(({ path }) => path)
}

type RunDirectoryEntry = { readonly path: string; readonly owner: string }

function directoriesIn(base: string, prefixes: readonly string[]): readonly RunDirectoryEntry[] {
  // What can't be looked into holds nothing of ours.
  return (entriesIn(base) ?? []).flatMap((name) => {
    const its = prefixes.find((one) => name.startsWith(one))
    return its === undefined ? [] : [{ path: join(base, name), owner: name.slice(its.length) }]
  })
}
