import { ModelError } from '../core/model.ts'
import { baseUrlOf, endpointOf, keyPlaceOf, type KeyPlace } from './endpoint.ts'
import type { ModelOptions } from './model-options.ts'
import { providerOfModel } from './provider-of-model.ts'
import type { ModelProvider } from './provider-config.ts'

/** What a model's name resolves to, for checks before a run. Contains no key. */
export type ModelFinding =
  | { readonly kind: 'recording'; readonly problem: string | undefined }
  /** The name or its provider is unknown. */
  | { readonly kind: 'unknown'; readonly problem: string }
  | {
      readonly kind: 'provider'
      readonly provider: string
      /** The provider's name for the model. */
      readonly model: string
      readonly wire: ModelProvider['wire_api']
      /** The URL without its query. Undefined if it is invalid; then `urlProblem` says why. */
      readonly url: string | undefined
      readonly urlProblem: string | undefined
      readonly key: KeyPlace
      /** The instructions for getting the key, from the configuration. */
      readonly keyInstructions: string | undefined
      /** Why requests can't be sent even though the URL and the key are known. Undefined if they can be sent, or if either is unknown. */
      readonly problem: string | undefined
    }

/** Resolves a model's name as `openModel` does. Connects to nothing and runs no command that prints a key. */
export async function inspectModel(name: string, options: ModelOptions): Promise<ModelFinding> {
  if (name.startsWith('replay:')) {
    const { openReplay } = await import('./replay-model.ts')
    return { kind: 'recording', problem: await problemOf(() => openReplay(name, options.cwd)) }
  }
  let placed: ReturnType<typeof providerOfModel>
  try {
    placed = providerOfModel(name, options)
  } catch (error) {
    return { kind: 'unknown', problem: told(error) }
  }
  const { id, provider, model } = placed
  const urlProblem = await problemOf(() => baseUrlOf(id, provider, options))
  const url = urlProblem === undefined ? new URL(baseUrlOf(id, provider, options)) : undefined
  const key = keyPlaceOf(id, provider, options.env)
  const hasKey = key.kind !== 'variable' || key.found !== undefined
  return {
    kind: 'provider',
    provider: provider.name ?? id,
    model,
    wire: provider.wire_api,
    url: url === undefined ? undefined : `${url.origin}${url.pathname}`,
    urlProblem,
    key,
    keyInstructions: provider.env_key_instructions,
    problem: hasKey && url !== undefined ? await problemOf(() => endpointOf(id, provider, options)) : undefined,
  }
}

async function problemOf(attempt: () => unknown): Promise<string | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    return told(error)
  }
}

function told(error: unknown): string {
  if (error instanceof ModelError) return error.message
  throw error
}
