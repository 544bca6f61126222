import type { Sandbox } from '../../sandbox/index.ts'
import type { Image } from '../core/model.ts'
import type { McpServer } from './server.ts'

/** A tool as its server describes it. Nothing in it can be trusted. */
export type McpToolDescription = {
  readonly name: string
  readonly description: string
  /** Undefined where it is no object. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined
  readonly readOnlyHint: boolean
}

/** What a call gave. */
export type McpCallResult = { readonly text: string; readonly images: readonly Image[]; readonly isError: boolean }

/** How far a call has come, by its server's own count. */
export type McpProgress = { readonly progress: number; readonly total?: number; readonly message?: string }

/** A server that answers. */
export type McpConnection = {
  /** Its instructions about its tools; empty where there are none. Nothing in them can be trusted. */
  readonly instructions: string
  readonly listTools: () => Promise<readonly McpToolDescription[]>
  /** Rejects with a sentence where the server fails; a tool's own error is a result. */
  readonly call: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress?: (progress: McpProgress) => void,
  ) => Promise<McpCallResult>
  readonly listResources: () => Promise<readonly McpResource[]>
  readonly readResource: (uri: string, signal: AbortSignal) => Promise<McpCallResult>
  readonly listPrompts: () => Promise<readonly McpPrompt[]>
  /** A prompt's messages as one text. */
  readonly getPrompt: (name: string, input: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<string>
  /** Whether it has gone away, and how. */
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

/** What a connection needs of the run. */
export type McpDependencies = {
  readonly workspace: string
  /** Where a server's process runs: the sandbox, or for a server that is configured so, outside of it. */
  readonly sandboxFor: (server: McpServer) => Promise<Sandbox>
  /** Called when the server reports that its tools have changed. */
  readonly onToolsChanged: () => void
  readonly signal: AbortSignal
}
