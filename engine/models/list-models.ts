import * as z from 'zod'
import { ModelError } from '../core/model.ts'
import { judgeConnection } from './connection-failure.ts'
import { endpointOf, keyPlaceOf, type Endpoint } from './endpoint.ts'
import { expectShape } from './expect-shape.ts'
import { judgeRefusal, otherContent, ProviderFailure } from './failure.ts'
import { modelFacts, type ConfiguredFacts, type ModelFacts } from './model-facts.ts'
import type { ModelOptions } from './model-options.ts'
import { builtInProviders, type ModelProvider } from './provider-config.ts'
import { providerOfModel } from './provider-of-model.ts'
import { sentence } from './retry.ts'
import { send } from './send-request.ts'

/** A model that a provider offers. */
type OfferedModel = {
  /** The value of `-m` that names it here. */
  readonly name: string
  /** The known facts about exactly this model. */
  readonly facts: Pick<ModelFacts, 'price' | 'contextWindow'>
}

/** What a provider offers. */
export type Offer = {
  /** The provider's id, which the configuration gives it. */
  readonly provider: string
  readonly models: readonly OfferedModel[]
  /**
   * Why there is no list. `key`: the provider has no key, so it wasn't asked. `absent`: it is a local server that everybody may have, and doesn't run. `failed`: it
   * didn't send a list. Undefined: it sent one.
   */
  readonly problem: { readonly kind: 'key' | 'absent' | 'failed'; readonly words: string } | undefined
}

const mebibyte = 1024 * 1024
const mostBytes = 8 * mebibyte
const patienceMs = 20_000
/** How many lists are asked for, one after the other. Each has up to 1000 models. */
const mostPages = 10

const listSchema = z.object({
  data: z.array(z.object({ id: z.string().min(1) })),
  has_more: z.boolean().optional(),
  last_id: z.string().nullish(),
})

/**
 * Asks each configured provider which models it offers, all at the same time. Providers without a key aren't asked.
 *
 * @param only the id of the only provider to ask; undefined: all of them
 */
export function listModels(
  options: ModelOptions,
  configured: ConfiguredFacts,
  only?: string,
): Promise<readonly Offer[]> {
  const providers = Object.entries({ ...options.modelProviders, ...builtInProviders })
  const asked = providers.filter(([id]) => only === undefined || id === only)
  return Promise.all(asked.map(([id, provider]) => offerOf(id, provider, options, configured)))
}

async function offerOf(
  id: string,
  provider: ModelProvider,
  options: ModelOptions,
  configured: ConfiguredFacts,
): Promise<Offer> {
  const problem = (kind: 'key' | 'absent' | 'failed', words: string): Offer => ({
    provider: id,
    models: [],
    problem: { kind, words },
  })
  let endpoint: Endpoint
  try {
    endpoint = endpointOf(id, provider, options)
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    const key = keyPlaceOf(id, provider, options.env)
    return problem(key.kind === 'variable' && key.found === undefined ? 'key' : 'failed', error.message)
  }
  try {
    const ids = await idsAt(endpoint, provider.wire_api)
    return { provider: id, models: ids.map((model) => offered(id, model, options, configured)), problem: undefined }
  } catch (error) {
    if (error instanceof ModelError) return problem('failed', error.message)
    if (!(error instanceof ProviderFailure)) throw error
    const isAbsent =
      error.kind === 'connection' && Object.hasOwn(builtInProviders, id) && endpoint.keyFrom === undefined
    return problem(isAbsent ? 'absent' : 'failed', sentence(endpoint, error))
  }
}

function offered(id: string, model: string, options: ModelOptions, configured: ConfiguredFacts): OfferedModel {
  const name = isFoundAs(model, id, options) ? model : `${id}/${model}`
  const { takenFrom, price, contextWindow } = modelFacts(name, configured)
  return {
    name,
    facts: takenFrom === undefined ? { price, contextWindow } : { price: undefined, contextWindow: undefined },
  }
}

/** Whether the bare name of a model names it at this provider. */
function isFoundAs(model: string, id: string, options: ModelOptions): boolean {
  try {
    const found = providerOfModel(model, options)
    return found.id === id && found.model === model
  } catch (error) {
    if (error instanceof ModelError) return false
    throw error
  }
}

/** The names in a provider's list: of OpenAI's shape at `/models`, of Anthropic's at `/v1/models`, which has pages. */
async function idsAt(endpoint: Endpoint, wire: ModelProvider['wire_api']): Promise<readonly string[]> {
  const isAnthropic = wire === 'messages'
  const ids: string[] = []
  let after: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const query = { ...endpoint.query, ...(isAnthropic ? { limit: '1000' } : {}), ...(after && { after_id: after }) }
    const list = await listAt(endpoint, isAnthropic ? '/v1/models' : '/models', query, {
      ...(await endpoint.headers()),
      ...(isAnthropic ? { 'anthropic-version': '2023-06-01' } : {}),
    })
    ids.push(...list.data.map(({ id }) => id))
    after = list.last_id ?? undefined
    if (!isAnthropic || list.has_more !== true || after === undefined) break
  }
  return ids
}

async function listAt(
  endpoint: Endpoint,
  path: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<z.infer<typeof listSchema>> {
  const url = new URL(endpoint.baseUrl)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  try {
    const answer = await send(url.href, { headers, signal: AbortSignal.timeout(patienceMs) })
    const text = await textOf(answer.body)
    const json = parsed(text)
    if (answer.status < 200 || answer.status > 299)
      throw judgeRefusal({ status: answer.status, words: wordsOf(json) ?? text }, Date.now())
    if (json === undefined) throw otherContent(text, answer.headers.get('content-type') ?? '', url.href)
    return expectShape('The list of models', listSchema, json)
  } catch (error) {
    if (error instanceof ProviderFailure || !(error instanceof Error)) throw error
    if (error.name === 'TimeoutError')
      throw new ProviderFailure('connection', `sent no list of models within ${patienceMs / 1000} seconds`, {
        retryable: true,
      })
    throw await judgeConnection(error, { url: endpoint.baseUrl, env: endpoint.env })
  }
}

async function textOf(body: AsyncIterator<Uint8Array, undefined>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (let read = await body.next(); read.done !== true && size < mostBytes; read = await body.next()) {
    chunks.push(read.value)
    size += read.value.length
  }
  await body.return?.()
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What isn't JSON is shown as it is.
    return undefined
  }
}

const refusal = z.object({ error: z.object({ message: z.string() }) })

function wordsOf(json: unknown): string | undefined {
  return refusal.safeParse(json).data?.error.message
}
