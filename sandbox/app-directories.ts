import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import { homeDirectory } from './homes.ts'

/** Where this program stores data that must outlive a run: sessions, and data that later runs need. */
export function stateDirectory(): string {
  return below('XDG_STATE_HOME', '.local/state')
}

/** Where this program caches data that it can compute again. */
export function cacheDirectory(): string {
  return below('XDG_CACHE_HOME', '.cache')
}

/**
 * All directories in which this program may keep configuration, state and caches: those of the XDG base directory specification, and those that
 * `sharedDirectories` returns.
 */
export function appDirectories(): readonly string[] {
  return [below('XDG_CONFIG_HOME', '.config'), stateDirectory(), cacheDirectory(), ...sharedDirectories()]
}

/**
 * This program's directories for the current user in `/var/tmp` and in the temporary directory, where other users can usually create files too. They
 * are needed if the user has no home directory, or if the workspace is the home directory.
 */
export function sharedDirectories(): readonly string[] {
  return [...new Set(['/var/tmp', resolve(tmpdir())])].map((directory) =>
    join(directory, `portcullis-${process.geteuid?.() ?? 0}`),
  )
}

function below(variable: string, fallback: string): string {
  const named = process.env[variable]
  return join(named !== undefined && isAbsolute(named) ? named : join(homeDirectory(), fallback), 'portcullis')
}
