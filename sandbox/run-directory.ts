import { readFileSync, readlinkSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

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
export async function makeRunDirectory(): Promise<RunDirectory> {
  const base = await realpath(tmpdir())
  const path = await mkdtemp(join(base, `${prefix}${pidNamespace()}-${process.pid}-${startOf(process.pid)}-`))
  const run = { path, temp: join(path, 'tmp'), empty: join(path, 'empty') }
  await mkdir(run.temp, { mode: 0o700 })
  await mkdir(run.empty, { mode: 0o500 })
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

/** Removes what runs left behind that ended without a chance to clean up. Live runs, and other users', are spared. */
export async function reapRunDirectories(): Promise<void> {
  const base = await realpath(tmpdir())
  for (const name of await readdir(base)) {
    const owner = /^portcullis-run-(\d+)-(\d+)-(\d+)-/.exec(name)
    // From another pid namespace, a container's say, there is no telling whether the owner lives.
    if (owner?.[2] === undefined || owner[1] !== pidNamespace()) continue
    if (startOf(Number(owner[2])) === owner[3]) continue
    const path = join(base, name)
    const stat = await lstat(path).catch(() => undefined)
    if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.()) continue
    // Somebody else may be reaping the same one; whatever remains is the next start's.
    await removeRunDirectory(path).catch(() => undefined)
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    // No procfs: one namespace for all.
    return '0'
  }
}

/**
 * When a process started, in the kernel's ticks (proc(5), stat field 22): with the pid it names a process for good, where
 * a pid alone may have been given to another. `0` when there is no such process or no procfs.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field may hold spaces and parentheses, so count from its end.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    // Ended meanwhile, or a system without procfs.
    return '0'
  }
}
