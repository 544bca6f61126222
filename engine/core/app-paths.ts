import { isAbsolute, join } from 'node:path'
import { closedState, homeDirectory } from '../../sandbox/index.ts'
import { UserError } from './user-error.ts'

/** The program's own folders on this machine, by the XDG base directory specification. */
export type AppPaths = {
  /** The user's home, where other agents keep their settings too. */
  readonly home: string
  /** The user's `config.toml` and `rules/*.rules`. */
  readonly config: string
  /** The machine owner's `rules/*.rules`. */
  readonly managed: string
  /** Claude Code's folder for an organisation's settings (`managed-settings.json`), by its documentation on settings files. */
  readonly managedClaude: string
  /** Sessions, audit logs. */
  readonly state: string
}

/** Finds the program's folders; creates none. A relative XDG variable is ignored, as the specification asks. */
export function findAppPaths(env: Readonly<NodeJS.ProcessEnv>): AppPaths {
  const home = findHome(env)
  const base = (variable: string, fallback: string): string => {
    const value = env[variable]
    return value !== undefined && isAbsolute(value) ? value : join(home, fallback)
  }
  return {
    home,
    managed: '/etc/portcullis',
    managedClaude: process.platform === 'darwin' ? '/Library/Application Support/ClaudeCode' : '/etc/claude-code',
    config: join(base('XDG_CONFIG_HOME', '.config'), 'portcullis'),
    state: join(base('XDG_STATE_HOME', '.local/state'), 'portcullis'),
  }
}

/**
 * The folder for sessions of a run whose commands write to `roots`; it lies in none of them: the user's own, or a private one in a shared
 * temporary folder.
 *
 * @param own the user's own, from `findAppPaths`
 * @throws UserError where there is none
 */
export function stateFor(roots: readonly string[], own: string): string {
  try {
    return closedState(roots, own)
  } catch (error) {
    throw new UserError('usage', (error as Error).message, { cause: error })
  }
}

/** The user's home, where other agents keep their settings too. */
export function findHome(env: Readonly<NodeJS.ProcessEnv>): string {
  return env['HOME'] !== undefined && isAbsolute(env['HOME']) ? env['HOME'] : homeDirectory()
}
