import type { Sandbox } from '../../sandbox/index.ts'
import type { Image } from '../core/model.ts'
import type { McpServer } from './server.ts'

/** A server's description of a tool. Nothing in it can be trusted. */
export type McpToolDescription = {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the tool's input; undefined if the server sent no object. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined
  readonly readOnlyHint: boolean
}

/** The result of a call. */
export type McpCallResult = { readonly text: string; readonly images: readonly Image[]; readonly isError: boolean }

/** The progress of a call, in the server's own units. */
export type McpProgress = { readonly progress: number; readonly total?: number; readonly message?: string }

/** An open connection to a server. */
export type McpConnection = {
  /** The server's instructions about its tools; empty if there are none. Nothing in them can be trusted. */
  readonly instructions: string
  readonly listTools: () => Promise<readonly McpToolDescription[]>
  /** Calls a tool. If the tool itself fails, the call resolves with a result. If the server fails, the call rejects with a readable message. */
  readonly call: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress?: (progress: McpProgress) => void,
  ) => Promise<McpCallResult>
  readonly listResources: () => Promise<readonly McpResource[]>
  readonly readResource: (uri: string, signal: AbortSignal) => Promise<McpCallResult>
  readonly listPrompts: () => Promise<readonly McpPrompt[]>
  /** Returns a prompt's messages as one text. */
  readonly getPrompt: (name: string, input: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<string>
  /** Returns how the connection ended; undefined while it is open. */
  readonly ended: () => string | undefined
  readonly close: () => Promise<void>
}

type McpResource = {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly mimeType: string
}
export type McpPrompt = {
  readonly name: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[]
}

/** What a connection needs from the run. */
export type McpDependencies = {
  readonly workspace: string
  /** Returns the sandbox for a server's process. It doesn't confine a server that is configured to run outside the sandbox. */
  readonly sandboxFor: (server: McpServer) => Promise<Sandbox>
  /** Called when the server reports that its tools have changed. */
  readonly onToolsChanged: () => void
  /** The folder of the tokens of servers. */
  readonly tokens: string
  /** Why a rule forbids the host of a URL; undefined if none does. */
  readonly forbidsHost: (url: URL) => string | undefined
  /** The variables that name certificates to trust. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly signal: AbortSignal
}
