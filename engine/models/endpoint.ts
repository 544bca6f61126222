import { ModelError } from '../core/model.ts'
import { checkHeader, keyFromCommand, keyHeaders } from './provider-keys.ts'
import type { KeySource } from './provider-keys.ts'
import type { ModelOptions } from './model-options.ts'
import type { ModelProvider } from './provider-config.ts'

/** Where a model's requests are sent, and with which credentials. */
export type Endpoint = {
  /** The provider's name in messages. */
  readonly label: string
  readonly baseUrl: string
  readonly query: Readonly<Record<string, string>>
  /** Returns the headers for the next request. Called before each request, so that an expired key can be renewed. Rejects with `ModelError`. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  /** Secrets that must not appear in any message. The list grows as keys are fetched. */
  readonly secrets: readonly string[]
  /** The environment, for what a message says about proxies and certificates. */
  readonly env: ModelOptions['env']
  /** Where the key comes from, for messages; undefined if no key is sent. */
  readonly keyFrom: string | undefined
  /** Receives the headers of each answer. Absent: the headers are not used. */
  readonly heard?: (header: (name: string) => string | null) => void
}

/** Resolves a provider's URL, headers and key. Throws `ModelError` 'configuration' if the key is missing, or if any of them is invalid. */
export function endpointOf(id: string, provider: ModelProvider, options: ModelOptions): Endpoint {
  const label = provider.name ?? id
  const secrets = new Set<string>()
  for (const [header, value] of Object.entries(provider.http_headers)) {
    if (/auth|key|token|secret|cookie/i.test(header)) secrets.add(value)
  }
  const fixed = {
    ...originator(provider, options),
    ...ownHeaders(id, options),
    ...provider.http_headers,
    ...fromEnvironment(provider, options, secrets),
  }
  for (const [header, value] of Object.entries(fixed)) checkHeader(`The header '${header}' for ${label}`, value)
  const key = keySource(id, provider, options)
  return {
    label,
    baseUrl: baseUrlOf(id, provider, options),
    query: provider.query_params,
    headers: async () => {
      const fetched = await key()
      if (fetched !== undefined) secrets.add(fetched)
      return { ...keyHeaders(carrierOf(id, options.env), fetched), ...fixed }
    },
    env: options.env,
    keyFrom: keyFromOf(id, provider, options),
    get secrets() {
      return [...secrets]
    },
  }
}

/** Returns the base URL of a provider's API. Throws `ModelError` 'configuration' for an invalid URL. */
export function baseUrlOf(id: string, provider: ModelProvider, options: ModelOptions): string {
  return checkedUrl(first(configuredUrl(id, options)) ?? provider.base_url)
}

/** Returns the URLs that are configured for a built-in provider. The first one that is set is used. */
function configuredUrl(id: string, { env, openaiBaseUrl }: ModelOptions): readonly (string | undefined)[] {
  if (id === 'openai') return [openaiBaseUrl, env['OPENAI_BASE_URL']]
  return id === 'anthropic' ? [env['ANTHROPIC_BASE_URL']] : []
}

/**
 * Returns the name of the header that carries the key. It is `x-api-key` if the key comes from `ANTHROPIC_API_KEY`. All other keys are sent as bearer tokens,
 * even to providers that use Anthropic's format. A provider that needs a different header can be configured with `env_http_headers`.
 */
function carrierOf(id: string, env: ModelOptions['env']): 'x-api-key' | 'authorization' {
  return id === 'anthropic' && first([env['ANTHROPIC_API_KEY']]) !== undefined ? 'x-api-key' : 'authorization'
}

/** Says to gateways which program sends a request, in the header that Codex has for it and with Codex's variable for another name. */
function originator({ wire_api: wire }: ModelProvider, { env }: ModelOptions): Readonly<Record<string, string>> {
  if (wire !== 'responses') return {}
  return { originator: first([env['CODEX_INTERNAL_ORIGINATOR_OVERRIDE']]) ?? 'portcullis_exec' }
}

function ownHeaders(id: string, { env }: ModelOptions): Readonly<Record<string, string>> {
  if (id !== 'openai') return {}
  const named = { 'openai-organization': env['OPENAI_ORG_ID'], 'openai-project': env['OPENAI_PROJECT_ID'] }
  return Object.fromEntries(
    Object.entries(named).flatMap(([header, value]) => (value === undefined || value === '' ? [] : [[header, value]])),
  )
}

function fromEnvironment(
  provider: ModelProvider,
  { env }: ModelOptions,
  secrets: Set<string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(provider.env_http_headers).flatMap(([header, variable]) => {
      const value = first([env[variable]])
      if (value === undefined) return []
      secrets.add(value)
      return [[header, value]]
    }),
  )
}

/** The environment variables that may contain a built-in provider's key, in the order in which they are tried; for OpenAI, as in `codex exec`. */
const keyVariables: Readonly<Record<string, readonly string[]>> = {
  openai: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
}

/** Where a provider's key comes from. The key itself is not included. */
export type KeyPlace =
  /** No key is sent. */
  | { readonly kind: 'none' }
  /** A command prints the key. `command` is its name. */
  | { readonly kind: 'command'; readonly command: string }
  /** One of the environment variables `names` contains the key. `found` is the first of them that is set, or undefined if none is. */
  | { readonly kind: 'variable'; readonly names: readonly string[]; readonly found: string | undefined }

/** Determines where a provider's key would come from. Runs no command. */
export function keyPlaceOf(id: string, provider: ModelProvider, env: ModelOptions['env']): KeyPlace {
  if (provider.auth !== undefined) return { kind: 'command', command: provider.auth.command }
  const names = keyVariablesOf(id, provider)
  if (names.length === 0) return { kind: 'none' }
  return { kind: 'variable', names, found: names.find((name) => first([env[name]]) !== undefined) }
}

function keyFromOf(id: string, provider: ModelProvider, options: ModelOptions): string | undefined {
  const place = keyPlaceOf(id, provider, options.env)
  if (place.kind === 'command') return `the command ${place.command}`
  if (place.kind === 'none') return undefined
  return id === 'openai' && first([options.apiKey]) !== undefined ? 'the stored login' : place.found
}

function keyVariablesOf(id: string, provider: ModelProvider): readonly string[] {
  return provider.env_key === undefined ? (keyVariables[id] ?? []) : [provider.env_key]
}

function keySource(id: string, provider: ModelProvider, options: ModelOptions): KeySource {
  const { env } = options
  const label = provider.name ?? id
  if (provider.auth !== undefined) return keyFromCommand(label, provider.auth, options)
  const variables = keyVariablesOf(id, provider)
  if (variables.length === 0) return () => Promise.resolve(undefined)
  const given = id === 'openai' ? options.apiKey : undefined
  const key = first([given, ...variables.map((variable) => env[variable])])
  if (key === undefined) {
    const how = provider.env_key_instructions === undefined ? '' : ` ${provider.env_key_instructions}`
    const named = variables.toReversed().join(' or ')
    throw new ModelError('configuration', `${label} needs a key: set ${named} in the environment.${how}`)
  }
  // The key may end with a line break, for example if the variable was set from a file.
  const trimmed = key.trim()
  checkHeader(`The key for ${label}`, trimmed)
  return () => Promise.resolve(trimmed)
}

function first(values: readonly (string | undefined)[]): string | undefined {
  return values.find((value) => value !== undefined && value !== '')
}

function checkedUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ModelError('configuration', `The base URL '${text}' is not an http or https URL.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new ModelError(
      'configuration',
      `The base URL for ${url.host} contains a user name or password: use a header or a key instead.`,
    )
  }
  return text
}
