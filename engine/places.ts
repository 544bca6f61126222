import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The program's own folders on this machine, by the XDG base directory specification. */
export type Places = {
  /** The user's `config.toml` and `rules/*.rules`. */
  readonly config: string
  /** The machine owner's `rules/*.rules`. */
  readonly managed: string
  /** Sessions, audit logs. */
  readonly state: string
}

/** Finds the program's folders; it creates nothing. A relative XDG variable is ignored, as the specification asks. */
export function findPlaces(env: Readonly<NodeJS.ProcessEnv>): Places {
  const home = findHome(env)
  const base = (variable: string, fallback: string): string => {
    const value = env[variable]
    return value !== undefined && isAbsolute(value) ? value : join(home, fallback)
  }
  return {
    managed: '/etc/portcullis',
    config: join(base('XDG_CONFIG_HOME', '.config'), 'portcullis'),
    state: join(base('XDG_STATE_HOME', '.local/state'), 'portcullis'),
  }
}

/** The user's home, where other agents keep their settings too. */
export function findHome(env: Readonly<NodeJS.ProcessEnv>): string {
  return env['HOME'] !== undefined && isAbsolute(env['HOME']) ? env['HOME'] : homedir()
}
