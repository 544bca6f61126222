import * as z from 'zod'
import { modelPriceSchema, modelProviderSchema } from '../../models/index.ts'
import { defaultModel } from '../defaults.ts'
import { row } from './setting-row.ts'

const group = 'model'

/** Settings of the model and of how it is asked. */
export const modelSettings = {
  model: row({
    group,
    schema: z.string().min(1),
    about:
      'the model to run: `gpt-…`, `claude-…`, `PROVIDER/NAME` (`openai`, `anthropic`, `ollama`, `lmstudio`, yours), `replay:FILE`',
    unset: `\`${defaultModel}\``,
    value: defaultModel,
    isPreference: true,
  }),
  model_provider: row({
    group,
    schema: z.string().min(1),
    about: 'whose models names without a provider are',
    unset: 'the maker that the name shows',
  }),
  model_providers: row({
    group,
    schema: z.record(z.string().min(1), modelProviderSchema),
    about:
      'providers of your own, each a table `model_providers.<id>`: `base_url`, `wire_api` (`responses`, `chat`, `messages`), `env_key`, headers',
  }),
  fallback_models: row({
    group,
    schema: z.array(z.string().min(1)),
    about: 'models that are asked, in this order, where the first one’s provider fails',
    unset: 'none',
    isPreference: true,
  }),
  model_reasoning_effort: row({
    group,
    schema: z.string().min(1),
    about: 'how hard the model thinks, in the provider’s own words',
    unset: 'as the maker’s own agent has it: `medium` for GPT, `high` or `medium` for Claude; else the provider’s',
    isPreference: true,
  }),
  model_verbosity: row({
    group,
    schema: z.enum(['low', 'medium', 'high']),
    about: 'how much the model says beside what it does; for OpenAI’s models',
    unset: '`low` for GPT-5 and later, as in Codex; else the provider’s',
    isPreference: true,
  }),
  openai_base_url: row({
    group,
    schema: z.url(),
    about: 'where the OpenAI API answers, e.g. a gateway',
    unset: 'OpenAI’s, or `OPENAI_BASE_URL`',
  }),
  model_prices: row({
    group,
    schema: z.record(z.string().min(1), modelPriceSchema),
    about: 'what models cost, by name: US dollars for a million tokens. `--max-cost` counts with it',
    unset: 'the list prices of OpenAI and Anthropic',
  }),
  model_context_window: row({
    group,
    schema: z.int().min(1000),
    about: 'how many tokens the model takes in and gives out together',
    unset: 'what is known of OpenAI’s and Anthropic’s models',
    isPreference: true,
  }),
  model_max_output_tokens: row({
    group,
    schema: z.int().min(1),
    about: 'the most tokens of one answer, thoughts included: asked for in every request of a run',
    unset: 'what the model gives',
    isPreference: true,
  }),
  compact_at: row({
    group,
    schema: z.number().gt(0).lt(1),
    about: 'how full the window may be before a conversation is summed up: a share of it',
    unset: '0.8, or where the model’s price for long prompts begins, whichever comes first',
    isPreference: true,
  }),
  model_auto_compact_token_limit: row({
    group,
    schema: z.int().min(1),
    about: 'the same as a number of tokens; wins over `compact_at`',
    unset: 'none',
    isPreference: true,
  }),
  request_max_retries: row({
    group,
    schema: z.int().min(0).max(100),
    about: 'how often a failed request is repeated. A provider’s own table may say something else',
    unset: '5',
    isPreference: true,
  }),
  stream_max_retries: row({
    group,
    schema: z.int().min(0).max(100),
    about: 'the same for a stream that was cut; the larger of both bounds the repeats of one request',
    unset: '5',
    isPreference: true,
  }),
  stream_idle_timeout_ms: row({
    group,
    schema: z.int().min(1),
    about: 'how long a stream may be silent, in milliseconds',
    unset: '300,000',
    isPreference: true,
  }),
  web_search: row({
    group,
    schema: z.enum(['disabled', 'cached', 'live']),
    about:
      'whether the model’s provider searches the web for it, where the Guardian agrees: `live` (or `--search`), or `cached` in what it has read ' +
      'before (OpenAI). As far as commands reach the network: an allow-list is also the list of domains that results come from, and where the ' +
      'network is off, it takes the permission `WebSearch`',
    unset: '`disabled`',
    within: (asked = 'disabled', bound = 'disabled') => searches.indexOf(asked) <= searches.indexOf(bound),
  }),
}

/** The kinds of web search, each reaching further than the one before. */
const searches: readonly string[] = ['disabled', 'cached', 'live']
