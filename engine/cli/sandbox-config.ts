import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Settings } from '../config/settings-schema.ts'
import { findAppPaths } from '../core/app-paths.ts'
import { findRepository } from '../app/workspace.ts'

/**
 * The configuration for a single command in a workspace. If the machine, the user and the command line configure nothing, the result is empty: the
 * repository's configuration doesn't apply, because nobody has marked the repository as trusted.
 *
 * @param overrides the `key=value` texts of `-c`
 * @param credentials the names of `--credential`
 * @throws UserError `usage` for any error in the configuration
 */
export async function readSandboxConfig(
  workspace: string,
  overrides: readonly string[],
  credentials: readonly string[],
): Promise<Settings> {
  const places = findAppPaths(process.env)
  const files = [places.config, places.managed].map((folder) => join(folder, 'config.toml'))
  if (overrides.length === 0 && credentials.length === 0 && !files.some(existsSync)) return {}
  // The module is imported only here, because it loads the TOML parser and the schema, which takes longer than starting a command.
  const { loadConfig } = await import('../config/load-config.ts')
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  // Here, even the stricter settings of other programs are used only if the user imports them. Because of the early return above, they would
  // otherwise apply only if there happens to be a configuration file of this program or a `-c`.
  return loadConfig({ places, project, overrides, credentials, onlyImported: true }).settings
}
