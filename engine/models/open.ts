import { ModelError } from '../model.ts'
import type { Model } from '../model.ts'
import { connectOpenAI } from './openai-sdk.ts'
import { limitsOf } from './options.ts'
import type { ModelOptions } from './options.ts'
import { openReplay } from './replay.ts'
import { responsesModel } from './responses.ts'

/**
 * Opens a model by the name a user gives: `replay:FILE`, `openai/NAME`, or a bare name whose maker is known from it
 * (`gpt-*`, `o1`… and `codex-*` are OpenAI's). Connects to nothing yet.
 *
 * Throws `ModelError` 'configuration' for a name it can't place, a missing key or a broken recording.
 */
export async function openModel(name: string, options: ModelOptions): Promise<Model> {
  if (name.startsWith('replay:')) return openReplay(name, options.cwd)
  const slash = name.indexOf('/')
  const provider = slash === -1 ? inferProvider(name) : name.slice(0, slash)
  const model = name.slice(slash + 1)
  if (provider === 'openai' && model !== '') return openOpenAI(name, model, options)
  throw new ModelError(
    'configuration',
    `Unknown model '${name}'. Accepted: 'replay:FILE', 'openai/NAME', or a name starting with 'gpt-', 'codex-' or 'o' and a digit.`,
  )
}

function inferProvider(name: string): string | undefined {
  return /^(?:gpt-|chatgpt-|codex-|o\d)/.test(name) ? 'openai' : undefined
}

async function openOpenAI(name: string, model: string, options: ModelOptions): Promise<Model> {
  const { env } = options
  // The order of `codex exec`: its own variable is the more specific one.
  const apiKey = [options.apiKey, env['CODEX_API_KEY'], env['OPENAI_API_KEY']].find(
    (key) => key !== undefined && key !== '',
  )
  if (apiKey === undefined) {
    throw new ModelError(
      'configuration',
      `The model '${name}' needs an OpenAI key: set OPENAI_API_KEY or CODEX_API_KEY in the environment.`,
    )
  }
  const baseUrl = [options.openaiBaseUrl, env['OPENAI_BASE_URL']].find((url) => url !== undefined && url !== '')
  const connection = await connectOpenAI({
    baseUrl: checkedUrl(baseUrl ?? 'https://api.openai.com/v1'),
    apiKey,
    headers: {},
    query: {},
    organization: env['OPENAI_ORG_ID'],
    project: env['OPENAI_PROJECT_ID'],
  })
  return responsesModel(name, {
    provider: { label: 'OpenAI', secrets: [apiKey] },
    model,
    connection,
    limits: limitsOf(options),
  })
}

function checkedUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ModelError('configuration', `The base URL '${text}' is not an http or https URL.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new ModelError(
      'configuration',
      `The base URL for ${url.host} carries a user name or password: use a header or a key instead.`,
    )
  }
  return text
}
