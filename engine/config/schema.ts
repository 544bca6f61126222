import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { McpServerTable } from '../mcp/schema.ts'
import type { ApprovalMode } from '../../policies/index.ts'
import type { Backend } from '../../sandbox/index.ts'
import { modelPriceSchema, modelProviderSchema } from '../models/index.ts'
import { openPresets } from './host-presets.ts'
import { parseDeferral } from '../tools/search/deferral.ts'

const absolute = z
  .string()
  .refine(
    (path) => isAbsolute(path) || path === '~' || path.startsWith('~/'),
    'must be an absolute path, or start with ~/',
  )

const limit = z.union([
  z.int().positive(),
  z.string().regex(/^\d+[KMGkmg]?$/, 'must be a number, or one with K, M or G behind it'),
])

// An object, so that the compiler misses a backend that is added.
const backends = { bubblewrap: 'bubblewrap', docker: 'docker', seatbelt: 'seatbelt' } as const satisfies {
  readonly [Name in Exclude<Backend, 'unconfined' | 'external'>]: Name
}

/**
 * What a configuration file may say. Keys carry Codex's names where Codex has the concept, so that
 * nobody has to learn them twice. Absent keys take the default named beside them.
 */
export const ConfigFile = z.strictObject({
  /** The model to run, as for `-m`. Default: see defaults.ts. */
  model: z.string().min(1).optional(),
  /** Whose models names without a provider are. Default: the name shows its maker. */
  model_provider: z.string().min(1).optional(),
  /** Further providers, each a table `model_providers.<id>`. */
  model_providers: z.record(z.string().min(1), modelProviderSchema).optional(),
  /** Models that are asked, in this order, where the first one's provider fails. Default: none. */
  fallback_models: z.array(z.string().min(1)).optional(),
  /** How hard the model thinks, in the provider's own words. Default: the provider's. */
  model_reasoning_effort: z.string().min(1).optional(),
  /** Where the OpenAI API answers, e.g. a gateway. Default: the SDK's. */
  openai_base_url: z.url().optional(),
  /** How many calls run at a time, of those that only read. Default: 10. */
  tool_concurrency: z.int().min(1).max(64).optional(),
  /** How many tokens of one result the model is shown, whatever a call asks for; beyond it the middle is cut out. Default: 10000 where a call asks for none. */
  tool_output_token_limit: z.int().min(100).optional(),
  /** The same in lines. Default: 4000. */
  tool_output_line_limit: z.int().min(10).optional(),
  /** Whether requests leave out tools that can be searched for: `always`, `off`, or from `auto:N%` of the context window on. Default: `auto:10%`. */
  tool_search: z
    .string()
    .refine((text) => parseDeferral(text) !== undefined, "must be 'always', 'off', 'auto' or 'auto:N%'")
    .optional(),
  /** Folders of tools that the user wrote, as JavaScript modules; their code runs in this program. Only the user's file may say it. Default: none. */
  tool_folders: z.array(absolute).optional(),
  /** Folders of skills, commands, agents, hooks and MCP servers that are switched on, each a table `plugins.<name>`. Default: none. */
  plugins: z
    .record(z.string().regex(/^[\w-]+$/), z.strictObject({ path: absolute, enabled: z.boolean().optional() }))
    .optional(),
  /** Servers of the Model Context Protocol, each a table `mcp_servers.<name>`. Default: none. */
  mcp_servers: z.record(z.string().min(1), McpServerTable).optional(),
  /** When the Guardian asks. Default: `never`, what fits the sandbox runs and whatever asks for more is refused. */
  approval_policy: z.enum(['untrusted', 'on-failure', 'on-request', 'never']).optional(),
  /**
   * Who answers when the Guardian asks: `user` at a terminal, a `program`, a `model` (Codex: `auto_review`), or `none`, which is a
   * no. Default: the program where one is named, else the person at the terminal, else none.
   */
  approvals_reviewer: z.enum(['user', 'program', 'model', 'auto_review', 'none']).optional(),
  /** The program that answers, as its words: JSON lines on its standard input and output. Default: none. */
  approval_program: z.tuple([z.string().min(1)], z.string()).optional(),
  /** Where questions are posted as JSON instead. Default: nowhere. */
  approval_url: z.url({ protocol: /^https?$/ }).optional(),
  /** Seconds that a program or a model may take to answer. Default: 120 and 90. */
  approval_timeout: z.number().positive().max(86_400).optional(),
  /** The model that reviews, named as for `model`. Default: the run's own. */
  reviewer_model: z.string().min(1).optional(),
  /** A file whose text replaces what a reviewing model judges by. Default: the text shipped. */
  reviewer_policy_file: absolute.optional(),
  /** Permissions in the words of Claude Code, as `Bash(git push:*)`. Those of all files add up. Default: none. */
  permissions: z
    .strictObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
    })
    .optional(),
  /** What commands may touch. Default: `workspace-write`. */
  sandbox_mode: z.enum(['read-only', 'workspace-write', 'danger-full-access']).optional(),
  /** What confines commands. Default: what fits this system. */
  sandbox_backend: z.enum(backends).optional(),
  /** The image that the docker backend runs commands in; it must be there already. */
  sandbox_image: z.string().min(1).optional(),
  /**
   * Shows commands the socket of this machine's docker daemon, where whoever can talk to it is root. Only the user's file and flags may say
   * it. Default: false.
   */
  dangerously_mount_docker_socket: z.boolean().optional(),
  sandbox_workspace_write: z
    .strictObject({
      /** More directories that may be written, beside the workspace. Default: none. */
      writable_roots: z.array(absolute).optional(),
      /** Whether commands reach the network. Default: false. */
      network_access: z.boolean().optional(),
      /** The only hosts that commands reach, as `example.com`, `*.example.com` or with `:port`, or by the name of a preset, as `npm`. Default: none. */
      allowed_hosts: z
        .array(
          z.union([
            z.string().min(1),
            /** A host that may have an address in a private network. */
            z.strictObject({ host: z.string().min(1), allow_private: z.boolean() }),
          ]),
        )
        .min(1)
        .transform(openPresets)
        .optional(),
    })
    .refine((table) => table.network_access !== true || table.allowed_hosts === undefined, {
      path: ['allowed_hosts'],
      message: 'contradicts network_access = true, which reaches every host: leave one of them out',
    })
    .optional(),
  /**
   * Package managers whose caches are kept from run to run, each in a directory of this project's own that commands may write to in
   * workspace-write. What one command puts there, later ones trust. Default: none.
   */
  sandbox_caches: z.array(z.enum(['npm', 'pnpm', 'pip', 'uv', 'cargo', 'go', 'gradle'])).optional(),
  /** What commands may read, in every mode. */
  sandbox_read: z
    .strictObject({
      /** Files and directories to show although they lie in a place that is private or denied. Default: none. */
      allow: z.array(absolute).optional(),
      /** Files and directories to hide, besides those where credentials are kept; also names at any depth, as `.env*`. Default: none. */
      deny: z
        .array(
          z.union(
            [absolute, z.string().regex(/^[^/]+$/)],
            'must be an absolute path, start with ~/, or be a name without a slash',
          ),
        )
        .optional(),
    })
    .optional(),
  /** What one command may use: numbers, sizes also as "512M". Defaults: `agent doctor` says what is enforced here. */
  sandbox_limits: z
    .strictObject({
      output: limit.optional(),
      processes: limit.optional(),
      memory: limit.optional(),
      /** Processors' worth of time. */
      cpus: z.number().positive().optional(),
      file_size: limit.optional(),
      /** Of the disks written to, while one command runs. */
      disk: limit.optional(),
      open_files: limit.optional(),
    })
    .optional(),
  /** Which variables commands get. Names that look like secrets never pass; `set` gives a command one on purpose. */
  shell_environment_policy: z
    .strictObject({
      /** `core`: a list of harmless names; `all`: everything that doesn't look like a secret; `none`. Default: `core`. */
      inherit: z.enum(['core', 'all', 'none']).optional(),
      /** Patterns of names to leave out. Default: none. */
      exclude: z.array(z.string().min(1)).optional(),
      /** When given, the only patterns of names that stay. */
      include_only: z.array(z.string().min(1)).optional(),
      /** Variables to set. Default: none. */
      set: z.record(z.string().min(1), z.string()).optional(),
      /** Codex's switch for its own list of secrets. Ours can't be switched off, so only `false` is understood. */
      ignore_default_excludes: z.literal(false).optional(),
    })
    .optional(),
  /**
   * Whether the model's provider searches the web for it: `live`, or `cached` in what it has read before (OpenAI). As far as commands
   * reach the network: an allow-list is also the list of domains that results come from, and where the network is off, it takes the
   * permission `WebSearch`. Default: `disabled`.
   */
  web_search: z.enum(['disabled', 'cached', 'live']).optional(),
  /** How often a failed request is repeated. A provider's own table may say something else. Default: 5. */
  request_max_retries: z.int().min(0).max(100).optional(),
  /** The same for a stream that was cut; the larger of both bounds the repeats of one request. */
  stream_max_retries: z.int().min(0).max(100).optional(),
  /** How long a stream may be silent, in milliseconds. Default: 300000. */
  stream_idle_timeout_ms: z.int().min(1).optional(),
  /** How many tokens the model takes in and gives out together. Default: what is known of OpenAI's and Anthropic's models. */
  model_context_window: z.int().min(1000).optional(),
  /** The most tokens of one answer, thoughts included: asked for in every request of a run. Default: what the model gives. */
  model_max_output_tokens: z.int().min(1).optional(),
  /** How full the window may be before the conversation is summed up: a share of it. Default: 0.8. */
  compact_at: z.number().gt(0).lt(1).optional(),
  /** The same as a number of tokens; wins over `compact_at`. Default: none. */
  model_auto_compact_token_limit: z.int().min(1).optional(),
  /** What models cost, by name: US dollars for a million tokens. Default: the list prices of OpenAI and Anthropic. */
  model_prices: z.record(z.string().min(1), modelPriceSchema).optional(),
})

export type ConfigFile = z.infer<typeof ConfigFile>

/** What is in force once files, profile, `-c` and flags are put together. Only a flag can ask for the mode `bypass`. */
export type Settings = Omit<ConfigFile, 'approval_policy'> & { readonly approval_policy?: ApprovalMode | undefined }

/** Which repositories may bring configuration of their own: a table `projects."/path"` for each root. */
const projects = z
  .record(z.string().min(1), z.strictObject({ trust_level: z.enum(['trusted', 'untrusted']) }))
  .optional()

export type Projects = z.infer<typeof projects>

/** The user's file: settings, and who they are for. */
export const UserFile = ConfigFile.extend({
  /** The profile to use where `-p` names none. Default: none. */
  profile: z.string().min(1).optional(),
  /** Named sets of settings, each a table `profiles.<name>`, laid over the rest of the file. */
  profiles: z.record(z.string().min(1), ConfigFile).optional(),
  projects,
})

/** The machine owner's file: what it says, others may only narrow. */
export const ManagedFile = ConfigFile.extend({ projects })
