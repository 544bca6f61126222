import { loadConfig, type Config, type ConfigSources } from '../config/load-config.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { findRepository } from './workspace.ts'

/** What is asked of the configuration beside its files. */
export type RequestedSettings = Omit<ConfigSources, 'places' | 'project'>

/**
 * The configuration of a run in a workspace, with what was asked for on top.
 *
 * @throws UserError `usage` for anything wrong in it
 */
export function loadSettings(requested: RequestedSettings, workspace: string, places: AppPaths): Config {
  return loadConfig({ ...requested, places, project: { root: findRepository(workspace) ?? workspace, workspace } })
}
