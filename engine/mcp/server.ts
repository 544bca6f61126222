import type { OAuthSettings } from './oauth/oauth-settings.ts'

/** The configuration of a Model Context Protocol server. */
export type McpServer = {
  /** The server's name, as it appears in the names of its tools: `mcp__NAME__tool`. */
  readonly name: string
  /** Where the server is configured, for messages. */
  readonly origin: string
  /** Set if the user configured it: not a repository, and not a plugin. */
  readonly isOwn?: true
  readonly transport: McpTransport
  /** Whether the run fails to start if this server is not available. */
  readonly required: boolean
  /** How long the server may take to become ready, in milliseconds. */
  readonly startupTimeoutMs: number
  /** How long a call may take without reporting progress, in milliseconds. */
  readonly toolTimeoutMs: number
  /** The only tools that are offered; undefined if all tools are offered. */
  readonly enabledTools: readonly string[] | undefined
  readonly disabledTools: readonly string[]
  /** Whether the server's claim that a tool only reads is trusted. */
  readonly trusted: boolean
  /** Whether every request contains the server's tools, even if other tools are deferred. */
  readonly alwaysLoad: boolean
}

export type McpTransport =
  | {
      readonly type: 'stdio'
      readonly argv: readonly [string, ...string[]]
      readonly env: Readonly<Record<string, string>>
      /** The directory in which the server's process runs. Undefined: the run's workspace. */
      readonly cwd: string | undefined
      /** Whether the server runs in the sandbox. If false, it runs outside, with all of the user's rights. */
      readonly sandboxed: boolean
    }
  | {
      readonly type: 'http' | 'sse' | 'ws'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
      /** How tokens are obtained if the server asks for one. Undefined: they aren't. */
      readonly oauth?: OAuthSettings | undefined
    }
  /** The server is in the program that drives the run. `exchange` sends it a message, and resolves with its answer, if there is one. */
  | { readonly type: 'client'; readonly exchange: (message: unknown, signal: AbortSignal) => Promise<unknown> }

/** How many seconds a server has to start, unless its configuration says otherwise. The first start of a program with `npx` may download it. */
export const startupSeconds = 30
