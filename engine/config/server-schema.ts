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

/**
 * How a server's tokens are obtained. Codex has `client_id` and `callback_port`. With `grant = "client_credentials"`, the client proves itself with its
 * secret or its key, and no person is needed; otherwise a person signs in once, with `agent mcp login`.
 */
const oauth = z
  .strictObject({
    grant: z.enum(['authorization_code', 'client_credentials']).optional(),
    client_id: text.optional(),
    /** The environment variable with the client's secret. */
    client_secret_env_var: text.optional(),
    /** The environment variable with the client's private key (PKCS #8, in PEM), with which it signs its requests for tokens. */
    private_key_env_var: text.optional(),
    /** The only authorization server that the secret is sent to. Default: the first that the server names. */
    issuer: z.url({ protocol: /^https?$/ }).optional(),
    /** The URL of the client's own metadata, which is its id where the authorization server reads such documents. */
    client_metadata_url: z.url({ protocol: /^https$/ }).optional(),
    /** The port of this machine to which a browser returns. Default: any. */
    callback_port: z.int().min(1).max(65535).optional(),
  })
  .refine(({ grant, ...client }) => grant !== 'client_credentials' || client.client_id !== undefined, {
    error: 'client_credentials needs a client_id',
  })
  .refine(
    ({ grant, client_secret_env_var: secret, private_key_env_var: key }) =>
      (secret === undefined || key === undefined) &&
      (grant !== 'client_credentials' || secret !== undefined || key !== undefined),
    { error: 'expected one of client_secret_env_var and private_key_env_var, which client_credentials needs' },
  )

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
  oauth: oauth.optional(),
  /** The scopes that tokens are requested for. Default: those that the server asks for. */
  scopes: z.array(z.string().regex(/^[^\s"\\]+$/)).optional(),
  /** The resource that tokens are requested for (RFC 8707). Default: the one that the server names. */
  oauth_resource: z.url().optional(),
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
