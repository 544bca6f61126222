import { ModelError } from '../model.ts'
import type { Model } from '../model.ts'
import { chatWire } from './chat.ts'
import { endpointOf } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { withFallbacks } from './fallback.ts'
import { messagesWire } from './messages.ts'
import { limitsOf } from './options.ts'
import type { ModelOptions } from './options.ts'
import { builtInProviders } from './provider-config.ts'
import type { ModelProvider } from './provider-config.ts'
import { responsesWire } from './responses.ts'
import { wireModel } from './wire-model.ts'
import type { Wire } from './wire.ts'

/**
 * Opens a model by the name a user gives:
 *
 * - `replay:FILE` a recorded conversation
 * - `PROVIDER/NAME` a model of `openai`, `anthropic`, `ollama`, `lmstudio` or a configured provider
 * - `NAME` a model of the configured default provider; without one, of the maker that the name shows (`gpt-*`,
 *   `codex-*`, `o3`… OpenAI, `claude-*` Anthropic)
 *
 * With fallback models, the next one answers where a provider can't. Connects to nothing yet.
 * Throws `ModelError` 'configuration' for a name it can't place, a missing key or a broken recording.
 */
export async function openModel(name: string, options: ModelOptions): Promise<Model> {
  const model = await openOne(name, options)
  const fallbacks = await Promise.all((options.fallbackModels ?? []).map((fallback) => openOne(fallback, options)))
  return fallbacks.length === 0 ? model : withFallbacks([model, ...fallbacks])
}

async function openOne(name: string, options: ModelOptions): Promise<Model> {
  // Behind a door, with the format of recordings, which few runs play.
  if (name.startsWith('replay:')) return (await import('./replay.ts')).openReplay(name, options.cwd)
  const { id, provider, model } = place(name, options)
  const endpoint = endpointOf(id, provider, options)
  return wireModel(name, wireOf(provider.wire_api, model, endpoint), endpoint, limitsOf(options, provider))
}

function wireOf(api: ModelProvider['wire_api'], model: string, endpoint: Endpoint): Wire {
  switch (api) {
    case 'responses':
      return responsesWire(model, endpoint)
    case 'chat':
      return chatWire(model, endpoint)
    case 'messages':
      return messagesWire(model, endpoint)
    default:
      return api satisfies never
  }
}

/** Which provider is meant, and what the model is called there. A known provider's id before the first slash decides. */
function place(
  name: string,
  options: ModelOptions,
): { readonly id: string; readonly provider: ModelProvider; readonly model: string } {
  const taken = Object.keys(options.modelProviders ?? {}).find((id) => Object.hasOwn(builtInProviders, id))
  if (taken !== undefined) {
    const instead = taken === 'openai' ? "set 'openai_base_url', or " : ''
    throw new ModelError(
      'configuration',
      `'model_providers.${taken}' would redefine a built-in provider: ${instead}give yours another id.`,
    )
  }
  const providers = { ...options.modelProviders, ...builtInProviders }
  const find = (id: string): ModelProvider | undefined => (Object.hasOwn(providers, id) ? providers[id] : undefined)
  const slash = name.indexOf('/')
  const prefixed = slash === -1 ? undefined : find(name.slice(0, slash))
  const id = prefixed === undefined ? (options.modelProvider ?? makerOf(name)) : name.slice(0, slash)
  const model = prefixed === undefined ? name : name.slice(slash + 1)
  const provider = id === undefined ? undefined : find(id)
  if (id !== undefined && provider === undefined) {
    const known = Object.keys(providers).join(', ')
    throw new ModelError('configuration', `Unknown model provider '${id}'. Known: ${known}.`)
  }
  if (id === undefined || provider === undefined || model === '') throw unknownModel(name, Object.keys(providers))
  return { id, provider, model }
}

function makerOf(name: string): string | undefined {
  if (/^(?:gpt-|chatgpt-|codex-|o\d)/.test(name)) return 'openai'
  return name.startsWith('claude-') ? 'anthropic' : undefined
}

function unknownModel(name: string, providers: readonly string[]): ModelError {
  return new ModelError(
    'configuration',
    `Unknown model '${name}'. Accepted: 'replay:FILE'; 'PROVIDER/NAME' with one of the providers ${providers.join(', ')}; ` +
      `or a name that shows its maker: 'gpt-…', 'codex-…', 'o3', 'claude-…'.`,
  )
}
