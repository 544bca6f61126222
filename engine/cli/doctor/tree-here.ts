import process from 'node:process'
import { credentialPlaces, describeTree, parsePolicy, type TreeDescription } from '../../../sandbox/index.ts'
import { sandboxModeOf } from '../../app/modes.ts'
import { findWorkspace } from '../../app/workspace.ts'
import { configuredPolicy } from '../../config/configured-policy.ts'
import { findAppPaths } from '../../core/app-paths.ts'
import type { ConfigOptions } from '../declare/config-options.ts'
import { loadRunConfig } from '../run-config.ts'

/** The tree that commands of a run with these options would see; undefined if it is this machine's own. */
export async function treeHere(options: ConfigOptions): Promise<TreeDescription | undefined> {
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const { settings } = await loadRunConfig(options, workspace, findAppPaths(process.env))
  const configured = configuredPolicy(settings)
  const deniedReads = [...credentialPlaces(), ...configured.deniedReads]
  return describeTree(parsePolicy({ mode: sandboxModeOf(settings), workspace, ...configured, deniedReads }))
}
