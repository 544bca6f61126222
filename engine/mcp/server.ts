/** A server of the Model Context Protocol, as configured: its transport, and its permissions. */
export type McpServer = {
  /** As in `mcp__NAME__tool`. */
  readonly name: string
  /** Where it is configured, for messages. */
  readonly origin: string
  readonly transport: McpTransport
  /** True: a run that can't reach it does not start. */
  readonly required: boolean
  /** Milliseconds until it has to be ready. */
  readonly startupTimeoutMs: number
  /** Milliseconds a call may take without a sign of progress. */
  readonly toolTimeoutMs: number
  /** The only tools that are offered; undefined: all. */
  readonly enabledTools: readonly string[] | undefined
  readonly disabledTools: readonly string[]
  /** Whether its claims about its tools (that they only read) are trusted. */
  readonly trusted: boolean
  /** Whether its tools are in every request even where others are deferred. */
  readonly alwaysLoad: boolean
}

export type McpTransport =
  | {
      readonly type: 'stdio'
      readonly argv: readonly [string, ...string[]]
      readonly env: Readonly<Record<string, string>>
      /** Undefined: the run's workspace. */
      readonly cwd: string | undefined
      /** False runs it outside the sandbox, with all that its user may do. */
      readonly sandboxed: boolean
    }
  | {
      readonly type: 'http' | 'sse' | 'ws'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
    }
