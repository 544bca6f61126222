import { onTestFinished } from 'vitest'
import type { Model } from '../../../engine/core/model.ts'
import { modelProviderSchema, openModel } from '../../../engine/models/index.ts'
import type { ModelOptions } from '../../../engine/models/index.ts'
import { startMockAnthropic } from '../../support/mock-anthropic.ts'
import { startMockChat } from '../../support/mock-chat.ts'
import type { MockModel, Replies } from '../../support/mock-model.ts'
import { startMockOpenAI } from '../../support/mock-openai.ts'

/** A provider's wire format, with everything that a scenario needs. */
export type WireUnderTest = {
  readonly wire: string
  /** The provider's name, as it appears in messages to the user. */
  readonly label: string
  readonly model: string
  readonly mock: (options: { readonly replies: Replies }) => Promise<MockModel>
  /** Options that connect the model to the mock server at `baseUrl`. */
  readonly options: (baseUrl: string) => Partial<ModelOptions>
  /** Arguments and variables that connect the program to the mock server at `baseUrl`. */
  readonly agent: (baseUrl: string) => {
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
  }
  /** The field of a request that contains the conversation. */
  readonly conversation: string
  /** An error in the form in which this provider sends it. */
  readonly error: (message: string, code?: string) => unknown
  /**
   * The value with which a response says why it ended: because it reached its length limit (`truncated`), or because it was withheld (`filtered`).
   */
  readonly truncated: string
  readonly filtered: string
}

/** The value of every environment variable that contains an API key. It is the same everywhere, so that one search finds it wherever it leaks. */
export const key = 'sk-test-5ecret-key'
const env = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key, LOCAL_KEY: key }

const openAiError = (message: string, code?: string): unknown => ({ error: { message, code: code ?? null, type: 'x' } })

export const wires: readonly WireUnderTest[] = [
  {
    wire: 'Responses',
    label: 'OpenAI',
    model: 'gpt-5.5',
    mock: startMockOpenAI,
    options: (openaiBaseUrl) => ({ openaiBaseUrl }),
    agent: (baseUrl) => ({ args: ['-c', `openai_base_url=${baseUrl}`], env: { OPENAI_API_KEY: key } }),
    conversation: 'input',
    error: openAiError,
    truncated: 'max_output_tokens',
    filtered: 'content_filter',
  },
  {
    wire: 'Chat Completions',
    label: 'Local',
    model: 'local/qwen3',
    mock: startMockChat,
    options: (baseUrl) => ({
      modelProviders: {
        local: modelProviderSchema.parse({ name: 'Local', base_url: baseUrl, wire_api: 'chat', env_key: 'LOCAL_KEY' }),
      },
    }),
    agent: (baseUrl) => ({
      args: ['-c', `model_providers={local={name="Local",base_url="${baseUrl}",wire_api="chat",env_key="LOCAL_KEY"}}`],
      env: { LOCAL_KEY: key },
    }),
    conversation: 'messages',
    error: openAiError,
    truncated: 'length',
    filtered: 'content_filter',
  },
  {
    wire: 'Messages',
    label: 'Anthropic',
    // For this model, the provider checks each thinking block against the whole conversation before it.
    model: 'claude-opus-5-5',
    mock: startMockAnthropic,
    options: (baseUrl) => ({ env: { ...env, ANTHROPIC_BASE_URL: baseUrl } }),
    agent: (baseUrl) => ({ args: [], env: { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: key } }),
    conversation: 'messages',
    error: (message, type = 'invalid_request_error') => ({ type: 'error', error: { type, message } }),
    truncated: 'max_tokens',
    filtered: 'refusal',
  },
]

/** Starts a mock with these replies, and opens a model that sends its requests to it. The mock is closed at the end of the test. */
export async function startWire(
  wire: WireUnderTest,
  replies: Replies,
  change: Partial<ModelOptions> = {},
): Promise<{ readonly mock: MockModel; readonly model: Model }> {
  const mock = await wire.mock({ replies })
  onTestFinished(() => mock.close())
  const given = { env, cwd: '/', retryBaseMs: 1, ...wire.options(mock.baseUrl) }
  const options = { ...given, ...change, env: { ...given.env, ...change.env } }
  return { mock, model: await openModel(wire.model, options) }
}
