import { isAbsolute, join } from 'node:path'
import { closedState, faultOfVariable, homeDirectory } from '../../sandbox/index.ts'
import { UserError } from './user-error.ts'

/** The folders that the program uses on this machine. `config` and `state` follow the XDG Base Directory Specification. */
export type AppPaths = {
  /** The user's home directory, where other agents keep their settings too. */
  readonly home: string
  /** The folder that contains the user's `config.toml` and `rules/*.rules`. */
  readonly config: string
  /** The folder that contains the machine owner's `config.toml` and `rules/*.rules`. */
  readonly managed: string
  /** The folder for an organization's Claude Code settings (`managed-settings.json`), according to Claude Code's documentation. */
  readonly managedClaude: string
  /** The folder for sessions and audit logs. */
  readonly state: string
  /** The folder of Codex, whose settings and rules can count here too. */
  readonly codex: string
}

/**
 * Finds the folders, but doesn't create them. A relative XDG variable is ignored, as the specification asks.
 *
 * @throws UserError `usage` if Node could not decode the path of one of the folders: the user's rules would not be found
 */
export function findAppPaths(env: Readonly<NodeJS.ProcessEnv>): AppPaths {
  for (const name of ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'CODEX_HOME']) {
    const fault = faultOfVariable(name, env[name])
    if (fault !== undefined)
      throw new UserError('usage', `The environment variable ${name} ${fault}. Set it to a path in UTF-8.`)
  }
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
    codex: base('CODEX_HOME', '.codex'),
  }
}

/**
 * Returns the folder for the sessions of a run whose commands write to `roots`. The folder is outside all of these roots: it is the user's own
 * folder, or a private folder in a shared temporary directory.
 *
 * @param own the user's own folder, from `findAppPaths`
 * @throws UserError `usage` if commands could write to each of these folders, or the temporary directories are not safe
 */
export function stateFor(roots: readonly string[], own: string): string {
  try {
    return closedState(roots, own)
  } catch (error) {
    throw new UserError('usage', (error as Error).message, { cause: error })
  }
}

/** Returns the user's home directory, where other agents keep their settings too. */
export function findHome(env: Readonly<NodeJS.ProcessEnv>): string {
  return env['HOME'] !== undefined && isAbsolute(env['HOME']) ? env['HOME'] : homeDirectory()
}
