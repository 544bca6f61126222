import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { isOwnerGone, ownerName } from './owner.ts'

/** The directories on the host that one opened sandbox owns. */
type RunDirectory = {
  readonly path: string
  /** What commands see as `/tmp`. Lives as long as the run: what one command leaves there the next one finds. */
  readonly temp: string
  /** Stands in for directories that must read as empty. */
  readonly empty: string
}

const prefix = 'portcullis-run-'

/** Makes the run's directories, for this user alone, below the system's temporary directory. */
export function makeRunDirectory(): RunDirectory {
  const base = realpathSync.native(tmpdir())
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
  const base = realpathSync.native(tmpdir())
  // At once, since there is nearly always nothing to do: what waits for other threads costs a start more than the work.
  for (const name of readdirSync(base)) {
    if (!name.startsWith(prefix) || !isOwnerGone(name.slice(prefix.length))) continue
    const path = join(base, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.()) continue
    await finish(path)
    // Somebody else may be reaping the same one; whatever remains is the next start's.
    await removeRunDirectory(path).catch(() => undefined)
  }
}
