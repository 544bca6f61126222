import type { landings } from '../exec-options.ts'

/** The version of Claude Code whose protocol this door speaks. Its clients refuse programs below their floor. */
export const claudeVersion = '2.1.332'

/** The options of a command line for Claude Code, as parsed. */
export type ClaudeOptions = {
  readonly print?: true
  readonly outputFormat?: (typeof outputFormats)[number]
  readonly inputFormat?: 'text' | 'stream-json'
  readonly verbose?: true
  readonly includePartialMessages?: true
  readonly replayUserMessages?: true
  readonly model?: string
  readonly effort?: string
  readonly permissionMode?: PermissionMode
  readonly permissionPromptTool?: string
  readonly dangerouslySkipPermissions?: true
  readonly allowDangerouslySkipPermissions?: true
  readonly allowedTools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  /** The only tools that may be used. Absent, or `default`: all. */
  readonly tools?: readonly string[] | true
  readonly maxTurns?: number
  readonly maxBudgetUsd?: number
  readonly maxThinkingTokens?: number
  readonly mcpConfig?: readonly string[]
  readonly strictMcpConfig?: true
  readonly systemPrompt?: string | true
  readonly appendSystemPrompt?: string | true
  readonly systemPromptFile?: string
  readonly appendSystemPromptFile?: string
  readonly addDir?: readonly string[]
  readonly continue?: true
  readonly resume?: string
  readonly resumeSessionAt?: string
  readonly forkSession?: true
  readonly sessionId?: string
  /** False: nothing is stored. */
  readonly sessionPersistence: boolean
  readonly settings?: string
  readonly agents?: string
  /** Whose settings of Claude Code count. Absent: everybody's. */
  readonly settingSources?: string | true
  readonly jsonSchema?: string
  /** When the changes of a turn land. Not in Claude Code. */
  readonly land?: Exclude<(typeof landings)[number], 'ask'>
}

export const outputFormats = ['text', 'json', 'stream-json'] as const

export const permissionModes = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk', 'auto'] as const

export type PermissionMode = (typeof permissionModes)[number]
