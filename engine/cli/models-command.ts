import process from 'node:process'
import { modelOptions, nameOfModel } from '../app/choose-model.ts'
import { findWorkspace } from '../app/workspace.ts'
import { findAppPaths } from '../core/app-paths.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { listModels, type Offer } from '../models/list-models.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { print, printJson, tell } from './print.ts'
import { loadRunConfig } from './run-config.ts'
import { useProxyFromEnvironment } from './use-proxy.ts'

/**
 * `agent models`: asks the configured providers what they offer, and prints it.
 *
 * @param only the only provider to ask
 * @returns 0 if a provider sent its list; otherwise 6 if one was asked, and 2 if none could be
 * @throws UserError `usage` if the configuration is broken, or has no such provider
 */
export async function runModels(
  only: string | undefined,
  options: ConfigOptions & { readonly json?: true },
): Promise<number> {
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const config = loadRunConfig(options, workspace, findAppPaths(process.env))
  const { settings, modelVariables } = config
  const environment = { ...modelVariables, ...process.env }
  tell(...useProxyFromEnvironment(environment).map((notice) => `agent: ${notice}`))
  const offers = await listModels(
    modelOptions({ settings, workspace, environment, from: process.cwd() }),
    {
      provider: settings.model_provider,
      prices: settings.model_prices,
      contextWindow: settings.model_context_window,
    },
    only,
  )
  if (offers.length === 0)
    throw new UserError('usage', `There is no provider '${only}': agent models, without a name, lists all of them.`)
  const chosen = options.model ?? nameOfModel(config, options.profile !== undefined, undefined)
  if (options.json === true) for (const offer of offers) printJson(told(offer))
  else print(...offers.flatMap((offer) => linesOf(offer, chosen)))
  if (offers.some(({ problem }) => problem === undefined)) return exitCodes.done
  const isFailure = ({ problem }: Offer): boolean =>
    problem?.kind === 'failed' || (problem?.kind === 'absent' && only !== undefined)
  return offers.some(isFailure) ? exitCodes.provider : exitCodes.usage
}

function told({ provider, models, problem }: Offer): unknown {
  return {
    provider,
    models: models.map(({ name, facts: { price, contextWindow } }) => ({
      name,
      price: price ?? null,
      context_window: contextWindow ?? null,
    })),
    problem: problem?.words ?? null,
  }
}

function linesOf({ provider, models, problem }: Offer, chosen: string): readonly string[] {
  if (problem !== undefined) return [`${provider}: ${problem.words}`]
  const width = Math.max(...models.map(({ name }) => name.length))
  return [
    `${provider}: ${models.length === 0 ? 'no models' : ''}`.trimEnd(),
    ...models.map(({ name, facts: { price, contextWindow } }) => {
      const words = [
        ...(price === undefined ? [] : [`$${price.input} in, $${price.cachedInput} cached, $${price.output} out`]),
        ...(contextWindow === undefined ? [] : [`context ${contextWindow}`]),
        ...(name === chosen ? ['the model of a run here'] : []),
      ]
      return `  ${name.padEnd(width)}  ${words.join(' · ')}`.trimEnd()
    }),
  ]
}
