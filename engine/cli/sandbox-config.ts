import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Settings } from '../config/settings-schema.ts'
import { findAppPaths } from '../core/app-paths.ts'
import { findRepository } from '../app/workspace.ts'

/**
 * The configuration for a single command in a workspace. If neither machine, user nor command line configures anything, nothing else can:
 * only these can trust a repository.
 *
 * @param overrides `-c key=value` texts
 * @throws UserError `usage` for anything wrong in it
 */
export async function readSandboxConfig(workspace: string, overrides: readonly string[]): Promise<Settings> {
  const places = findAppPaths(process.env)
  const files = [places.config, places.managed].map((folder) => join(folder, 'config.toml'))
  if (overrides.length === 0 && !files.some(existsSync)) return {}
  // Imported lazily: reading TOML and its schema takes longer than starting a command.
  const { loadConfig } = await import('../config/load-config.ts')
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  // Other programs' settings would otherwise apply only where some configuration happens to exist.
  return loadConfig({ places, project, overrides, onlyImported: true }).settings
}
