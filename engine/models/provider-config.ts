import * as z from 'zod'

const name = z.string().min(1)
const milliseconds = z.number().int().positive()

/**
 * A table `model_providers.<id>` of the configuration, with the same field names as in Codex. `wire_api` supports two more formats than in Codex: `chat` (Chat
 * Completions) and `messages` (Anthropic's).
 */
export const modelProviderSchema = z.strictObject({
  /** The provider's name in messages. Default: its id. */
  name: name.optional(),
  base_url: z.url({ protocol: /^https?$/ }),
  wire_api: z.enum(['responses', 'chat', 'messages']).default('responses'),
  /** The environment variable that contains the key. Without it and without `auth`, no key is sent. */
  env_key: name.optional(),
  /** How to get the key; shown if the variable is missing. */
  env_key_instructions: name.optional(),
  /** A command that prints the key. It runs again after `refresh_interval_ms`. */
  auth: z
    .strictObject({
      command: name,
      args: z.array(z.string()).default([]),
      timeout_ms: milliseconds.default(5000),
      refresh_interval_ms: milliseconds.default(300_000),
      cwd: name.optional(),
    })
    .optional(),
  query_params: z.record(z.string(), z.string()).default({}),
  http_headers: z.record(z.string(), z.string()).default({}),
  /** Maps headers to environment variables. A header whose variable is unset or empty is left out. */
  env_http_headers: z.record(z.string(), name).default({}),
  /**
   * How many times a request may be repeated. Codex limits the retries of failed requests and of interrupted streams separately. Here, the larger of
   * the two limits applies to all retries of one request.
   */
  request_max_retries: z.number().int().min(0).max(100).optional(),
  stream_max_retries: z.number().int().min(0).max(100).optional(),
  stream_idle_timeout_ms: milliseconds.optional(),
})

/** A provider as configured, with defaults filled in. */
export type ModelProvider = z.infer<typeof modelProviderSchema>

/** The providers that need no configuration. No key is sent to local servers. */
export const builtInProviders: Readonly<Record<string, ModelProvider>> = {
  openai: builtIn('OpenAI', 'https://api.openai.com/v1', 'responses'),
  anthropic: builtIn('Anthropic', 'https://api.anthropic.com', 'messages'),
  ollama: builtIn('Ollama', 'http://127.0.0.1:11434/v1', 'chat'),
  lmstudio: builtIn('LM Studio', 'http://127.0.0.1:1234/v1', 'chat'),
}

function builtIn(name: string, base_url: string, wire_api: ModelProvider['wire_api']): ModelProvider {
  return { name, base_url, wire_api, query_params: {}, http_headers: {}, env_http_headers: {} }
}
