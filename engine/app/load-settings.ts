import { loadConfig, type Config, type ConfigSources } from '../config/load-config.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { findRepository } from './workspace.ts'

/** What the caller asks of the configuration in addition to its files. */
export type RequestedSettings = Omit<ConfigSources, 'places' | 'project'>

/**
 * The configuration of a run in a workspace, with the caller's requests on top.
 *
 * @throws UserError `usage` for anything wrong in it
 */
export function loadSettings(requested: RequestedSettings, workspace: string, places: AppPaths): Config {
  return loadConfig({ ...requested, places, project: { root: findRepository(workspace) ?? workspace, workspace } })
}
