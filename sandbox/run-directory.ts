import { lstatSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { isOwnerGone, ownerName } from './owner.ts'
import { isWithin } from './paths.ts'
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

/** Removes a run's directories; a command may have left directories there that deny even their owner. */
export async function removeRunDirectory(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    await openDirectories(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function openDirectories(path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(join(path, entry.name))
  }
}

/**
 * Removes what runs left behind that ended without a chance to clean up. Live runs, and other users', are spared. `finish` gets
 * each directory before it is removed, and keeps it from that by rejecting.
 */
export async function reapRunDirectories(finish: (directory: string) => Promise<void>): Promise<void> {
  // At once, since there is nearly always nothing to do: what waits for other threads costs a start more than the work.
  for (const { name, path } of scratchBases().flatMap(runDirectoriesIn)) {
    if (!isOwnerGone(name.slice(prefix.length))) continue
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.()) continue
    await finish(path)
    // Somebody else may be reaping the same one; whatever remains is the next start's.
    await removeRunDirectory(path).catch(() => undefined)
  }
}

/** The directories of runs, live ones too, that commands which write to these roots could get at. */
export function runDirectoriesBelow(roots: readonly string[]): readonly string[] {
  const bases = scratchBases().filter((base) => roots.some((root) => isWithin(base, root)))
  return bases.flatMap(runDirectoriesIn).map(({ path }) => path)
}

function runDirectoriesIn(base: string): readonly { readonly name: string; readonly path: string }[] {
  const names = readdirSync(base).filter((name) => name.startsWith(prefix))
  return names.map((name) => ({ name, path: join(base, name) }))
}
