import { loadConfig, type Config, type ConfigSources } from '../config/load-config.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { findRepository } from './workspace.ts'

/** The settings that the caller requests in addition to the configuration files. */
export type RequestedSettings = Omit<ConfigSources, 'places' | 'project'>

/**
 * Loads the configuration of a run in a workspace. The settings that the caller requests override it.
 *
 * @throws UserError `usage` for any error in the configuration
 */
export function loadSettings(requested: RequestedSettings, workspace: string, places: AppPaths): Config {
  return loadConfig({ ...requested, places, project: { root: findRepository(workspace) ?? workspace, workspace } })
}
