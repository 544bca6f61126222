import type { Model } from '../core/model.ts'
import { endpointOf } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { withFallbacks } from './fallback.ts'
import { limitsOf } from './model-options.ts'
import type { ModelOptions } from './model-options.ts'
import { providerOfModel } from './provider-of-model.ts'
import type { ModelProvider } from './provider-config.ts'
import { wireModel } from './wire-model.ts'
import type { Wire } from './wire.ts'

/**
 * Opens a model by the name that a user gives:
 *
 * - `replay:FILE`: a recorded conversation
 * - `PROVIDER/NAME`: a model of `openai`, `anthropic`, `ollama`, `lmstudio` or a configured provider
 * - `NAME`: a model of the configured default provider; if none is configured, a model of the maker that the name suggests (OpenAI for `gpt-*`,
 *   `codex-*`, `o3` and similar names, Anthropic for `claude-*`)
 *
 * If fallback models are configured, the next one answers when a model's provider fails. This function connects to no server. Throws `ModelError`
 * 'configuration' for an unknown name, a missing key, an invalid URL, header or key, or a broken recording.
 *
 * @example const model = await openModel('gpt-5.5', { env: { OPENAI_API_KEY: 'key' }, cwd: process.cwd() })
 */
export async function openModel(name: string, options: ModelOptions): Promise<Model> {
  const model = await openOne(name, options)
  const fallbacks = await Promise.all((options.fallbackModels ?? []).map((fallback) => openOne(fallback, options)))
  return fallbacks.length === 0 ? model : withFallbacks([model, ...fallbacks])
}

async function openOne(name: string, options: ModelOptions): Promise<Model> {
  // Imported only if it is needed, because few runs play a recording.
  if (name.startsWith('replay:')) return (await import('./replay-model.ts')).openReplay(name, options.cwd)
  const { id, provider, model } = providerOfModel(name, options)
  const endpoint = endpointOf(id, provider, options)
  const { wire_api: api } = provider
  const limits = limitsOf(options, provider)
  if (options.gate === undefined) return wireModel(name, await wireOf(api, model, endpoint), endpoint, limits)
  const { gatedRequests } = await import('./gated-requests.ts')
  // Anthropic's rate limits don't count input that came from its cache, but OpenAI's do.
  const gate = gatedRequests(options.gate, endpoint, model, api !== 'messages')
  return wireModel(name, await wireOf(api, model, { ...endpoint, heard: gate.heard }), endpoint, limits, gate)
}

/** Creates the wire for an API. The wires are imported lazily, because most runs need only one of them. */
async function wireOf(api: ModelProvider['wire_api'], model: string, endpoint: Endpoint): Promise<Wire> {
  switch (api) {
    case 'responses':
      return (await import('./responses.ts')).responsesWire(model, endpoint)
    case 'chat':
      return (await import('./chat.ts')).chatWire(model, endpoint)
    case 'messages':
      return (await import('./anthropic-messages.ts')).messagesWire(model, endpoint)
    default:
      return api satisfies never
  }
}
