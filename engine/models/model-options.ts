import type { RequestGate } from '../core/request-gate.ts'
import type { ModelProvider } from './provider-config.ts'

/** What opening a model needs. Configuration resolves it; absent means the default named here. */
export type ModelOptions = {
  /** Where keys and base URLs are looked up; nothing here reads the environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative replay files are found from here, and recordings write it as `<<cwd>>`. */
  readonly cwd: string
  /** `openai_base_url`; absent: `OPENAI_BASE_URL`, then OpenAI itself. */
  readonly openaiBaseUrl?: string | undefined
  /** A key for OpenAI from elsewhere than the environment; wins over it. */
  readonly apiKey?: string | undefined
  /** The tables `model_providers.<id>`. Built-in ids can't be redefined. */
  readonly modelProviders?: Readonly<Record<string, ModelProvider>> | undefined
  /** `model_provider`: whose models names without a provider are. Absent: the name shows its maker. */
  readonly modelProvider?: string | undefined
  /** `fallback_models`: asked in order where a provider fails. Absent: none. */
  readonly fallbackModels?: readonly string[] | undefined
  /** What each request waits at. Absent: none waits. */
  readonly gate?: RequestGate | undefined
  /** Repeats of one request after its first failure. Default 5; 0 never repeats. */
  readonly maxRetries?: number | undefined
  /** The wait before the first repeat, doubled each time. Default 500. */
  readonly retryBaseMs?: number | undefined
  /** All waits of one request together. A wait that would exceed it is a failure at once. Default 10 minutes. */
  readonly retryBudgetMs?: number | undefined
  /** Time until the provider's response headers. Default 2 minutes. */
  readonly connectTimeoutMs?: number | undefined
  /** Time between two events of a stream. Default 5 minutes. */
  readonly streamIdleTimeoutMs?: number | undefined
}

/** How long one request may take, and how often it is repeated. */
export type Limits = {
  readonly maxRetries: number
  readonly retryBaseMs: number
  readonly retryBudgetMs: number
  readonly connectTimeoutMs: number
  readonly streamIdleTimeoutMs: number
}

/** The limits with every default filled in; a provider's own are the more specific ones. */
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
