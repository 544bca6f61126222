import type { RequestGate } from '../core/request-gate.ts'
import type { ModelProvider } from './provider-config.ts'

/** What is needed to open a model, as the configuration specifies it. If a value is absent, the default given here applies. */
export type ModelOptions = {
  /** The environment variables in which keys and base URLs are looked up. The environment of the process is not read. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The directory from which relative paths of replay files are resolved. Recordings contain `<<cwd>>` instead of this path. */
  readonly cwd: string
  /** `openai_base_url`. Absent: the value of `OPENAI_BASE_URL`, or else the URL of OpenAI's own API. */
  readonly openaiBaseUrl?: string | undefined
  /** A key for OpenAI from somewhere other than the environment. It overrides the environment. */
  readonly apiKey?: string | undefined
  /** The tables `model_providers.<id>`. Built-in ids can't be redefined. */
  readonly modelProviders?: Readonly<Record<string, ModelProvider>> | undefined
  /**
   * `model_provider`: the provider of models whose names don't include one. If it is absent, the provider is the model's maker, which is inferred
   * from the name.
   */
  readonly modelProvider?: string | undefined
  /** The models of `fallback_models`, which are tried in this order when a provider fails. Absent: none. */
  readonly fallbackModels?: readonly string[] | undefined
  /** The gate that each request must pass before it is sent. Absent: requests don't wait. */
  readonly gate?: RequestGate | undefined
  /** The maximum number of retries of one request. Default 5; 0: no retries. */
  readonly maxRetries?: number | undefined
  /** The wait before the first retry, in milliseconds; it doubles with each retry. Default 500. */
  readonly retryBaseMs?: number | undefined
  /**
   * The maximum total wait before the retries of one request, in milliseconds. If the next wait would exceed it, the request fails at once. Default 10 minutes.
   */
  readonly retryBudgetMs?: number | undefined
  /** How long to wait for the provider's response headers. Default 2 minutes. */
  readonly connectTimeoutMs?: number | undefined
  /** How long a stream may pause between two events. Default 5 minutes. */
  readonly streamIdleTimeoutMs?: number | undefined
}

/** How many times and for how long a request may be repeated, and how long it may wait for the provider. */
export type Limits = {
  readonly maxRetries: number
  readonly retryBaseMs: number
  readonly retryBudgetMs: number
  readonly connectTimeoutMs: number
  readonly streamIdleTimeoutMs: number
}

/** Returns the limits with every default filled in. A provider's own limits override the general ones. */
export function limitsOf(options: ModelOptions, provider: ModelProvider): Limits {
  const retries = [provider.request_max_retries, provider.stream_max_retries].filter((count) => count !== undefined)
  return {
    maxRetries: retries.length > 0 ? Math.max(...retries) : (options.maxRetries ?? 5),
    retryBaseMs: options.retryBaseMs ?? 500,
    retryBudgetMs: options.retryBudgetMs ?? 600_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 120_000,
    streamIdleTimeoutMs: provider.stream_idle_timeout_ms ?? options.streamIdleTimeoutMs ?? 300_000,
  }
}
