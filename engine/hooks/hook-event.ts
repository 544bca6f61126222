/** The properties of an event that don't depend on any hook. */
type EventKind = {
  /** The input field that matchers are compared with; undefined: matchers have no effect on this event. */
  readonly matches?: 'tool_name' | 'source' | 'reason' | 'trigger' | 'agent_type' | 'notification_type' | 'error'
  /** Whether an action waits for the hook's approval. If so, a failure of the hook counts as a denial, unless its `onError` is `continue`. */
  readonly guards: boolean
  /** Whether a command hook may set variables for later commands, in the file that `CLAUDE_ENV_FILE` names. Default: false. */
  readonly setsVariables?: boolean
  /** How a hook's answer is used if it is plain text. Default: it is ignored. */
  readonly text?: 'context'
  /** The time limit in seconds if the handler sets none. For a hook that asks a model, a lower limit may apply. */
  readonly timeout: number
}

const guard = { guards: true, timeout: 600 } as const
const notice = { guards: false, timeout: 600 } as const

/**
 * The events that hooks can be set on. The names that begin with `Before` or `After` are Gemini CLI's; the others are Claude Code's (see the hook
 * references of both programs). Events that have no equivalent here are in `otherEvents`.
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
  // `TaskCreated` hooks decide whether a task may start, `TaskCompleted` hooks whether it counts as done.
  TaskCreated: guard,
  TaskCompleted: guard,
  PreCompact: { ...notice, matches: 'trigger' },
  PostCompact: { ...notice, matches: 'trigger' },
  Notification: { ...notice, matches: 'notification_type' },
  ConfigChange: { ...notice, matches: 'source' },
  BeforeModel: guard,
  AfterModel: guard,
  BeforeToolSelection: guard,
} as const satisfies Readonly<Record<string, EventKind>>

/** The name of an event that a hook can be set on. */
export type HookEvent = keyof typeof hookEvents

/** Returns the properties of an event: its entry in `hookEvents`, typed so that the optional fields can be read. */
export function kindOf(event: HookEvent): EventKind {
  return hookEvents[event]
}

/** Claude Code's events that never happen here. When hooks for them are loaded, a notice says that these hooks never run. */
export const otherEvents: readonly string[] = [
  'Setup',
  'UserPromptExpansion',
  'InstructionsLoaded',
  'PostToolBatch',
  'TeammateIdle',
  'MessageDisplay',
  'CwdChanged',
  'WorktreeCreate',
  'WorktreeRemove',
  'DirectoryAdded',
  'FileChanged',
  'Elicitation',
  'ElicitationResult',
]
