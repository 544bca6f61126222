import { resolve } from 'node:path'
import process from 'node:process'
import type { Config } from '../config/load.ts'
import { defaultModel } from '../config/defaults.ts'
import type { Settings } from '../config/schema.ts'
import { ModelError, type Model } from '../model.ts'
import { openModel, recordModel } from '../models/index.ts'
import { UserError } from '../user-error.ts'
import type { ExecOptions } from './exec-options.ts'

/**
 * The model of a run, recorded where that was asked for.
 *
 * @param before the model that a resumed session was run with
 * @throws UserError `usage` for a name, key or provider that is not there
 */
export async function chooseModel(
  options: ExecOptions,
  { settings: config, managed }: Config,
  workspace: string,
  before: string | undefined,
): Promise<Model> {
  const model = await openNamed(
    options.model ?? managed.model ?? before ?? config.model ?? defaultModel,
    config,
    workspace,
  )
  return options.record === undefined ? model : asUserError(recordModel(model, resolve(options.record), workspace))
}

/**
 * The model that reviews: the one configured for it, else another instance of the run's own.
 *
 * @throws UserError `usage` for a name, key or provider that is not there
 */
export function chooseReviewerModel(model: Model, config: Settings, workspace: string): Promise<Model> {
  return openNamed(config.reviewer_model ?? model.name, config, workspace)
}

/**
 * A model by the name that a hook or an agent asks for.
 *
 * @throws UserError `usage` for a name, key or provider that is not there
 */
export function openNamed(name: string, config: Settings, workspace: string): Promise<Model> {
  return asUserError(
    openModel(fromHere(name), {
      env: process.env,
      cwd: workspace,
      openaiBaseUrl: config.openai_base_url,
      modelProvider: config.model_provider,
      modelProviders: config.model_providers,
      fallbackModels: config.fallback_models,
      maxRetries: maxRetries(config),
      streamIdleTimeoutMs: config.stream_idle_timeout_ms,
    }),
  )
}

function maxRetries(config: Settings): number | undefined {
  const counts = [config.request_max_retries, config.stream_max_retries].filter((count) => count !== undefined)
  return counts.length === 0 ? undefined : Math.max(...counts)
}

async function asUserError<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    if (error instanceof ModelError) throw new UserError('usage', error.message, { cause: error })
    throw error
  }
}

/** A recording is named from where the user stands, not from the workspace that `-C` may name. */
function fromHere(model: string): string {
  const file = /^replay:(?<file>.+)$/s.exec(model)?.groups?.['file']
  return file === undefined ? model : `replay:${resolve(file)}`
}
