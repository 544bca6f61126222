import * as z from 'zod'
import { modelPriceSchema, modelProviderSchema } from '../../models/index.ts'
import { defaultModel } from '../defaults.ts'
import { absolute } from './absolute.ts'
import { row } from './setting-row.ts'

const group = 'model'

/** Settings for the model and for requests to it. */
export const modelSettings = {
  model: row({
    group,
    schema: z.string().min(1),
    about:
      'the model to run: `gpt-…`, `claude-…`, `PROVIDER/NAME` (`openai`, `anthropic`, `ollama`, `lmstudio`, or one of your own), `replay:FILE`',
    unset: `\`${defaultModel}\``,
    value: defaultModel,
    isPreference: true,
  }),
  model_provider: row({
    group,
    schema: z.string().min(1),
    about: 'the provider of models whose names don’t include one',
    unset: 'determined by the model’s name',
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
    about: 'models to try, in this order, if the provider of the model in `model` fails',
    unset: 'none',
    isPreference: true,
  }),
  model_reasoning_effort: row({
    group,
    schema: z.string().min(1),
    about: 'how much the model reasons, as a value that its provider accepts, such as `high`',
    unset:
      'the default of the vendor’s own agent: `medium` for GPT, `high` or `medium` for Claude; for other models, the provider’s default',
    isPreference: true,
  }),
  model_verbosity: row({
    group,
    schema: z.enum(['low', 'medium', 'high']),
    about: 'how much text the model writes in addition to its tool calls; only for OpenAI’s models',
    unset: '`low` for GPT-5 and later, as in Codex; for other models, the provider’s default',
    isPreference: true,
  }),
  openai_base_url: row({
    group,
    schema: z.url(),
    about: 'the address of the OpenAI API, or of a gateway to it',
    unset: 'OpenAI’s, or `OPENAI_BASE_URL`',
  }),
  model_prices: row({
    group,
    schema: z.record(z.string().min(1), modelPriceSchema),
    about: 'the prices of models by name, in US dollars per million tokens. `--max-cost` uses them',
    unset: 'the list prices of OpenAI and Anthropic',
  }),
  model_context_window: row({
    group,
    schema: z.int().min(1000),
    about: 'the size of the model’s context window: the limit for its input and output together, in tokens',
    unset: 'the known values for OpenAI’s and Anthropic’s models',
    isPreference: true,
  }),
  model_max_output_tokens: row({
    group,
    schema: z.int().min(1),
    about: 'the limit for one answer, including reasoning, in tokens; sent with every request of a run',
    unset: 'the model’s own limit',
    isPreference: true,
  }),
  compact_at: row({
    group,
    schema: z.number().gt(0).lt(1),
    about: 'how full the context window may get before the conversation is compacted, as a fraction',
    unset: '0.8, or the length from which the model’s price for long prompts applies, whichever comes first',
    isPreference: true,
  }),
  model_auto_compact_token_limit: row({
    group,
    schema: z.int().min(1),
    about: 'how many tokens a conversation may have before it is compacted; overrides `compact_at`',
    unset: 'none',
    isPreference: true,
  }),
  request_max_retries: row({
    group,
    schema: z.int().min(0).max(100),
    about: 'how many times a failed request is repeated. A provider’s own table may set another value',
    unset: '5',
    isPreference: true,
  }),
  stream_max_retries: row({
    group,
    schema: z.int().min(0).max(100),
    about:
      'how many times a request is repeated after its stream was interrupted. All repeats of one request are limited to the larger of this number and `request_max_retries`',
    unset: '5',
    isPreference: true,
  }),
  stream_idle_timeout_ms: row({
    group,
    schema: z.int().min(1),
    about: 'how long a stream may pause, in milliseconds',
    unset: '300,000',
    isPreference: true,
  }),
  service_tier: row({
    group,
    schema: z.string().min(1),
    about:
      'how fast OpenAI is to answer, and at what price, as a value that its API accepts, such as `flex` or `priority`',
    unset: 'the provider’s default',
    isPreference: true,
  }),
  developer_instructions: row({
    group,
    schema: z.string().min(1),
    about: 'instructions for the model, in addition to those in files',
    unset: 'none',
    saidBy: 'user',
  }),
  model_instructions_file: row({
    group,
    schema: absolute,
    about: 'a file whose text replaces the instructions that tell the model how to work. Sub-agents keep theirs',
    unset: 'the built-in text, which depends on the model',
    saidBy: 'user',
  }),
  project_doc_max_bytes: row({
    group,
    schema: z.int().min(0),
    about:
      'the size of all instruction files of the repository together, in bytes; what exceeds it is left out. `0`: none is read',
    unset: '32,768',
    isPreference: true,
  }),
  project_doc_fallback_filenames: row({
    group,
    schema: z.array(z.string().regex(/^[^/\0]+$/, 'expected the name of a file, without a directory')),
    about: 'names of instruction files that are read in directories without `AGENTS.md`',
    unset: 'none',
    saidBy: 'user',
  }),
  web_search: row({
    group,
    schema: z.enum(['disabled', 'cached', 'live']),
    about:
      'web search by the model’s provider, if the Guardian agrees. `disabled`: none; `live` (the same as `--search`): the live web; `cached`: only pages that OpenAI has read before (for Claude, the same as `live`). The network access of commands limits the search too: with an allow-list, results come only from its domains; if commands have no network, the search needs the permission `WebSearch`',
    unset: '`disabled`',
    within: (asked = 'disabled', bound = 'disabled') => searches.indexOf(asked) <= searches.indexOf(bound),
  }),
}

/** The kinds of web search, from the most restricted to the least. */
const searches: readonly string[] = ['disabled', 'cached', 'live']
