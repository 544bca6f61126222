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
  /** The variable that names the model's server, if one does, with its value. */
  readonly address: readonly (readonly [name: string, url: string])[]
}

/** The variables that name a provider's server in place of its own. */
const addresses = ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL'] as const

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
  const url = finding.kind === 'provider' ? finding.url : undefined
  const address = addresses.flatMap((each) => {
    const set = URL.parse(environment[each] ?? '')
    return set !== null && `${set.origin}${set.pathname}` === url ? [[each, url] as const] : []
  })
  return { name, isNamed: options.model !== undefined, variable, address }
}

/** The variables of a job that say which model to use, without the one with the key. */
export function variablesOf({ name, address }: ModelForCi): readonly (readonly [name: string, value: string])[] {
  return [['AGENT_MODEL', name], ...address]
}
