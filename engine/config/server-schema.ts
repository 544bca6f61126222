import * as z from 'zod'

const seconds = z.number().positive().max(3600)
const text = z.string().min(1)

/** The fields that every server in our configuration can have, whether it runs as a process or is reached by URL. */
const shared = {
  enabled: z.boolean().optional(),
  /** Whether the run fails to start if the server can't be reached. Default: false. */
  required: z.boolean().optional(),
  /** How many seconds the server may take to start. Default: 10. */
  startup_timeout_sec: seconds.optional(),
  /** How many seconds a call may take without progress. Default: 60. */
  tool_timeout_sec: seconds.optional(),
  enabled_tools: z.array(text).optional(),
  disabled_tools: z.array(text).optional(),
  /**
   * Whether to believe what the server says about its tools. If so, a tool that the server declares to be read-only may run in parallel, and needs no
   * approval except with the approval policy `untrusted`, unless a permission says otherwise. Default: false. Codex doesn't have this field.
   */
  trusted: z.boolean().optional(),
  /** Whether every request contains the server's tools, even if the tools of other servers are deferred. Default: false. */
  always_load: z.boolean().optional(),
}

const stdio = z.strictObject({
  command: text,
  args: z.array(z.string()).optional(),
  env: z.record(text, z.string()).optional(),
  /** The variables of this program's environment that are passed to the server. */
  env_vars: z.array(text).optional(),
  cwd: text.optional(),
  /** Whether the server runs in the sandbox. Default: true. Codex doesn't have this field. */
  sandbox: z.boolean().optional(),
  ...shared,
})

const remote = z.strictObject({
  url: z.url({ protocol: /^(?:https?|wss?)$/, error: 'expected a URL that begins with http, https, ws or wss' }),
  /** The environment variable whose value is sent as the bearer token, in the header `Authorization`. */
  bearer_token_env_var: text.optional(),
  http_headers: z.record(text, z.string()).optional(),
  /** Headers whose values come from variables of this program's environment. */
  env_http_headers: z.record(text, text).optional(),
  /**
   * How to connect to the URL. `sse` is for servers that support only the older transport. By default, the URL decides: `ws` for `ws:` and `wss:`,
   * otherwise `http`. Codex doesn't have this field.
   */
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
 * A server of a `.mcp.json` (Claude Code's format) that runs as a process. Strings may contain `${NAME}` and `${NAME:-default}`. Other keys are accepted,
 * because they belong to other programs.
 */
export const McpJsonStdio = z.looseObject({
  type: z.literal('stdio').optional(),
  command: text,
  args: z.array(z.string()).optional(),
  env: z.record(text, z.string()).optional(),
  ...jsonShared,
})

/**
 * A server of a `.mcp.json` (Claude Code's format) that is reached by URL. Strings may contain `${NAME}` and `${NAME:-default}`. Other keys are
 * accepted, because they belong to other programs.
 */
export const McpJsonRemote = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'sse', 'ws']).optional(),
  url: text,
  headers: z.record(text, z.string()).optional(),
  ...jsonShared,
})

/** One `mcp_servers.<name>` table in our configuration. */
export type McpServerTable = z.infer<typeof McpServerTable>
