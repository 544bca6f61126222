import type { HookCallback, HookFile } from '../hooks/load-hooks.ts'
import type { HistoryItem } from '../core/model.ts'
import type { JsonServers } from '../mcp/json-servers.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import type { ToolRestriction } from './restrict-tools.ts'

/** What the program that drives a run adds to the run: its own callbacks, servers and instructions. */
export type RunClient = {
  /** Callbacks, which are asked like hooks. Default: none. */
  readonly hooks?: readonly HookCallback[]
  /** Settings in Claude Code's format that may contain further hooks. They count like those of the user. Default: none. */
  readonly settings?: HookFile
  /** Sub-agents. They come first: one of the same name that a file defines is left out. Default: none. */
  readonly agents?: readonly AgentDefinition[]
  /** The tools that the run may use. Default: all. */
  readonly tools?: ToolRestriction
  /** MCP servers. They come first: a configured server of the same name is left out. Default: none. */
  readonly servers?: JsonServers
  /** Whether only these servers are used, and none that is configured. Default: false. */
  readonly onlyServers?: boolean
  /** Replaces the instructions that tell the model how to work. Default: as configured. */
  readonly instructions?: string
  /** Returns the input with which a call that its reviewer has denied is to be made instead, once. Default: it isn't made. */
  readonly replacement?: (callId: string) => unknown
  /** Receives what the run has when everything is open, just before its first event. */
  readonly opened?: (facts: OpenedFacts) => void
}

/** What an open run has. */
export type OpenedFacts = {
  /** The tools by the names of Claude Code's corresponding tools, or else by their own. */
  readonly tools: readonly string[]
  /** The MCP servers, each with the reason why it isn't available, if it isn't. */
  readonly servers: readonly { readonly name: string; readonly problem: string | undefined }[]
  /** The model's context window and its longest answer, in tokens; undefined if they are unknown. */
  readonly contextWindow: number | undefined
  readonly longestOutput: number | undefined
  /** The conversation that the run continues. */
  readonly said: readonly HistoryItem[]
}
