import { resolve } from 'node:path'
import type { Config } from '../config/load-config.ts'
import { defaultModel } from '../config/defaults.ts'
import type { Settings } from '../config/settings-schema.ts'
import { ModelError, type Model } from '../core/model.ts'
import type { RequestGate } from '../core/request-gate.ts'
import { inspectModel, openModel, recordModel, type ModelFinding, type ModelOptions } from '../models/index.ts'
import { UserError } from '../core/user-error.ts'

/** What the lookup of a model depends on. */
export type ModelSources = {
  readonly settings: Settings
  readonly workspace: string
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** The directory from which relative paths of recordings are resolved. */
  readonly from: string
  /** The gate that each request must pass. If undefined, no request has to wait. */
  readonly gate?: RequestGate | undefined
}

/**
 * Returns the name of the model that a run uses.
 *
 * @param isProfileNamed whether the request names a profile
 * @param before the model of the session that the run resumes
 */
export function nameOfModel(
  { settings, managed, origins }: Config,
  isProfileNamed: boolean,
  before: string | undefined,
): string {
  // A model that is requested now overrides the model of the resumed session, whichever option names it.
  const kind = origins.get('model')?.layer.kind
  const isSaid = kind === '-c' || kind === 'flag' || (kind === 'profile' && isProfileNamed)
  const said = isSaid ? settings.model : undefined
  return managed.model ?? said ?? before ?? settings.model ?? defaultModel
}

/**
 * Wraps a model so that requests to it and its answers are recorded.
 *
 * @throws UserError `usage` if the file can't be written
 */
export function recorded(model: Model, file: string, workspace: string): Promise<Model> {
  return asUserError(recordModel(model, file, workspace))
}

/**
 * Opens a model by name.
 *
 * @throws UserError `usage` if there is no model of this name, no such provider or no key, or if a recording can't be played
 */
export function openNamed(name: string, sources: ModelSources): Promise<Model> {
  return asUserError(openModel(fromHere(name, sources.from), modelOptions(sources)))
}

/** Opens a model by name, but only when it is first used. */
export function openLazily(name: string, sources: ModelSources): Model {
  let opened: Promise<Model> | undefined
  return {
    name,
    async *respond(request, signal) {
      yield* (await (opened ??= openNamed(name, sources))).respond(request, signal)
    },
  }
}

/** Finds the provider and the model that a name refers to, without opening the model. */
export function inspectNamed(name: string, sources: ModelSources): Promise<ModelFinding> {
  return inspectModel(fromHere(name, sources.from), modelOptions(sources))
}

/** What the lookup of a model depends on, as the models' own code takes it. */
export function modelOptions({ settings: config, workspace, environment, gate }: ModelSources): ModelOptions {
  return {
    gate,
    env: environment,
    cwd: workspace,
    openaiBaseUrl: config.openai_base_url,
    modelProvider: config.model_provider,
    modelProviders: config.model_providers,
    fallbackModels: config.fallback_models,
    maxRetries: maxRetries(config),
    streamIdleTimeoutMs: config.stream_idle_timeout_ms,
  }
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

/** Makes the path of a recording absolute. A relative path starts from the user's current directory, even if the workspace is a different directory. */
function fromHere(model: string, from: string): string {
  const file = /^replay:(?<file>.+)$/s.exec(model)?.groups?.['file']
  return file === undefined ? model : `replay:${resolve(from, file)}`
}
