import process from 'node:process'
import { inspectNamed, nameOfModel } from '../../app/choose-model.ts'
import { findAppPaths } from '../../core/app-paths.ts'
import type { ConfigOptions } from '../declare/config-options.ts'
import { loadRunConfig } from '../run-config.ts'

/** The model of a workflow. */
export type ModelForCi = {
  readonly name: string
  /** Whether the command line names it. */
  readonly isNamed: boolean
  /** The variable with the key. Undefined: the provider needs none, or its key comes from a command. */
  readonly variable: string | undefined
}

/**
 * Finds the model that a run here would use, and the variable of its key.
 *
 * @throws UserError `usage` if the configuration is broken
 */
export async function modelForCi(options: ConfigOptions, workspace: string): Promise<ModelForCi> {
  const config = loadRunConfig(options, workspace, findAppPaths(process.env))
  const name = options.model ?? nameOfModel(config, options.profile !== undefined, undefined)
  const { settings, modelVariables } = config
  const environment = { ...modelVariables, ...process.env }
  const finding = await inspectNamed(name, { settings, workspace, environment, from: process.cwd() })
  const key = finding.kind === 'provider' ? finding.key : undefined
  // The other variables hold tokens of other programs.
  const variable =
    key?.kind === 'variable'
      ? (key.found ?? key.names.findLast((each) => each.endsWith('_API_KEY')) ?? key.names[0])
      : undefined
  return { name, isNamed: options.model !== undefined, variable }
}
