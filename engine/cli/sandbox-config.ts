import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Settings } from '../config/settings-schema.ts'
import { findAppPaths } from '../core/app-paths.ts'
import { findRepository } from '../app/workspace.ts'

/**
 * The configuration that counts for a single command in a workspace. Where neither machine, user nor command line says anything,
 * nothing else can: a repository is trusted by one of these.
 *
 * @param overrides `-c key=value` texts
 * @throws UserError `usage` for anything wrong in it
 */
export async function readSandboxConfig(workspace: string, overrides: readonly string[]): Promise<Settings> {
  const places = findAppPaths(process.env)
  const files = [places.config, places.managed].map((folder) => join(folder, 'config.toml'))
  if (overrides.length === 0 && !files.some(existsSync)) return {}
  // Behind a door: reading TOML and its schema takes longer than starting a command.
  const { loadConfig } = await import('../config/load-config.ts')
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  // What other programs make stricter would count here only where there happens to be a configuration.
  return loadConfig({ places, project, overrides, onlyImported: true }).settings
}
