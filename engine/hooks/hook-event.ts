/** The properties of an event, independent of any hook. */
type EventKind = {
  /** The field of the input that a group's matcher is compared with; undefined: matchers have no meaning here. */
  readonly matches?: 'tool_name' | 'source' | 'reason' | 'trigger' | 'agent_type' | 'notification_type' | 'error'
  /** Whether something waits for the hook's approval: then a hook that fails denies. */
  readonly guards: boolean
  /** Whether a command of its hooks may set variables for later commands, in the file that `CLAUDE_ENV_FILE` names. Default: no. */
  readonly setsVariables?: boolean
  /** The meaning of plain text on standard output. Default: none. */
  readonly text?: 'context' | 'worktree'
  /** Seconds a command or request may take where the handler doesn't say. */
  readonly timeout: number
}

const guard = { guards: true, timeout: 600 } as const
const notice = { guards: false, timeout: 600 } as const

/**
 * The events, by the names of Claude Code and (the `Before…`, `After…` ones) of Gemini CLI. Source: their hook references.
 * Those of theirs that have no meaning here are in `otherEvents`.
 */
export const hookEvents = {
  SessionStart: { ...notice, matches: 'source', setsVariables: true, text: 'context' },
  SessionEnd: { guards: false, timeout: 2, matches: 'reason' },
  UserPromptSubmit: { guards: true, timeout: 30, text: 'context' },
  PreToolUse: { ...guard, matches: 'tool_name' },
  PermissionRequest: { ...guard, matches: 'tool_name' },
  PermissionDenied: { ...notice, matches: 'tool_name' },
  PostToolUse: { ...notice, matches: 'tool_name' },
  PostToolUseFailure: { ...notice, matches: 'tool_name' },
  Stop: notice,
  StopFailure: { ...notice, matches: 'error' },
  SubagentStart: { ...notice, matches: 'agent_type' },
  SubagentStop: { ...notice, matches: 'agent_type' },
  // Both are asked: one whether a task may begin, one whether it may count as done.
  TaskCreated: guard,
  TaskCompleted: guard,
  PreCompact: { ...notice, matches: 'trigger' },
  PostCompact: { ...notice, matches: 'trigger' },
  Notification: { ...notice, matches: 'notification_type' },
  CwdChanged: { ...notice, setsVariables: true },
  WorktreeCreate: { ...guard, text: 'worktree' },
  WorktreeRemove: notice,
  ConfigChange: { ...notice, matches: 'source' },
  BeforeModel: guard,
  AfterModel: guard,
  BeforeToolSelection: guard,
} as const satisfies Readonly<Record<string, EventKind>>

/** The name of an event that hooks can be set on. */
export type HookEvent = keyof typeof hookEvents

/** The properties of an event; `hookEvents` with its optional fields visible. */
export function kindOf(event: HookEvent): EventKind {
  return hookEvents[event]
}

/** Events of the peers that never happen here: hooks for them are named as such when they are loaded, and never run. */
export const otherEvents: readonly string[] = [
  'Setup',
  'UserPromptExpansion',
  'InstructionsLoaded',
  'PostToolBatch',
  'TeammateIdle',
  'MessageDisplay',
  'DirectoryAdded',
  'FileChanged',
  'Elicitation',
  'ElicitationResult',
]
