import { ModelError } from '../core/model.ts'
import type { ModelOptions } from './model-options.ts'
import { builtInProviders } from './provider-config.ts'
import type { ModelProvider } from './provider-config.ts'

/**
 * Finds a model's provider, and the model's name at that provider. If the part before the first slash is a known provider's id, that provider is used.
 *
 * @throws ModelError `configuration` for an unknown name or provider, or if a configured provider has the id of a built-in one
 */
export function providerOfModel(
  name: string,
  options: ModelOptions,
): { readonly id: string; readonly provider: ModelProvider; readonly model: string } {
  const taken = Object.keys(options.modelProviders ?? {}).find((id) => Object.hasOwn(builtInProviders, id))
  if (taken !== undefined) {
    const instead = taken === 'openai' ? "set 'openai_base_url', or " : ''
    throw new ModelError(
      'configuration',
      `'model_providers.${taken}' would redefine a built-in provider: ${instead}give your provider another id.`,
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
      `or a name that shows its maker: 'gpt-…', 'codex-…', 'o3', 'claude-…'. To see what your providers offer, run agent models.`,
  )
}
