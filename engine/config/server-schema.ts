import * as z from 'zod'

const seconds = z.number().positive().max(3600)
const text = z.string().min(1)

/** The fields of a server in any of the three formats, besides its transport. */
const shared = {
  enabled: z.boolean().optional(),
  /** A run that can't reach the server does not start. Default: false. */
  required: z.boolean().optional(),
  /** Seconds. Default: 10. */
  startup_timeout_sec: seconds.optional(),
  /** Seconds without a sign of progress. Default: 60. */
  tool_timeout_sec: seconds.optional(),
  enabled_tools: z.array(text).optional(),
  disabled_tools: z.array(text).optional(),
  /** Trust the server's claims about its tools: one that claims to only read may run in parallel. Default: false. Ours. */
  trusted: z.boolean().optional(),
  /** Its tools are in every request even where others are deferred. Default: false. */
  always_load: z.boolean().optional(),
}

const stdio = z.strictObject({
  command: text,
  args: z.array(z.string()).optional(),
  env: z.record(text, z.string()).optional(),
  /** Variables of our environment that it gets. */
  env_vars: z.array(text).optional(),
  cwd: text.optional(),
  /** False runs it outside the sandbox. Default: true. Ours. */
  sandbox: z.boolean().optional(),
  ...shared,
})

const remote = z.strictObject({
  url: z.url({ protocol: /^(?:https?|wss?)$/, error: 'expected a URL that begins with http, https, ws or wss' }),
  /** The variable that holds a token to send as `Authorization: Bearer`. */
  bearer_token_env_var: text.optional(),
  http_headers: z.record(text, z.string()).optional(),
  /** Headers whose values are in variables of our environment. */
  env_http_headers: z.record(text, text).optional(),
  /** `sse` for servers that only know the older transport. Default: by the URL. Ours. */
  transport: z.enum(['http', 'sse', 'ws']).optional(),
  ...shared,
})

/** A server in our configuration, `mcp_servers.<name>`: Codex's keys, with some additions. */
export const McpServerTable = z.union([stdio, remote], {
  error: ({ input }) =>
    typeof input === 'object' && input !== null && ('command' in input || 'url' in input)
      ? undefined
      : 'expected a table with a command, or with a url',
})

const jsonShared = { timeout: z.number().positive().optional(), alwaysLoad: z.boolean().optional() }

/**
 * A server in a `.mcp.json`, Claude Code's format, that is started as a process. Strings may contain `${NAME}` and `${NAME:-default}`.
 * Unlisted keys belong to other programs.
 */
export const McpJsonStdio = z.looseObject({
  type: z.literal('stdio').optional(),
  command: text,
  args: z.array(z.string()).optional(),
  env: z.record(text, z.string()).optional(),
  ...jsonShared,
})

/** The same of one that is reached. */
export const McpJsonRemote = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'sse', 'ws']).optional(),
  url: text,
  headers: z.record(text, z.string()).optional(),
  ...jsonShared,
})

/** One table of our configuration. */
export type McpServerTable = z.infer<typeof McpServerTable>
