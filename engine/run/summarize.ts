import type { Changes } from '../core/changes/change-watch.ts'
import type { Item, RunEvent, RunSummary, VerificationItem, Verified } from '../core/events.ts'
import type { Usage } from '../core/model.ts'

/**
 * The maximum number of files in `runs_later`, which lists files that other programs run later. If there are more, the run has probably created a
 * whole project, and the rest are left out.
 */
const mostTold = 200

/** Summarizes a run's changes for the terminal event. */
export function countChanges({
  files,
  runsLater,
  notCounted,
}: Changes): NonNullable<Extract<RunEvent, { type: 'turn.completed' }>['changes']> {
  return {
    files: files.length,
    by_commands: files.filter(({ by }) => by === 'command').length,
    ...(runsLater.length === 0 ? {} : { runs_later: runsLater.slice(0, mostTold) }),
    ...(notCounted === undefined ? {} : { not_counted: notCounted }),
  }
}

/** Returns the result of a command given with `--verify`, for the run's summary. */
export function verifiedBy({ command, status, exit_code, duration_ms, attempt }: VerificationItem): Verified {
  return { command, passed: status === 'completed', exit_code, duration_ms: duration_ms ?? 0, attempts: attempt }
}

/** Converts usage to the field names used in events. */
export function eventUsage(usage: Usage): RunSummary['usage'] {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_input_tokens: usage.cacheWriteInputTokens,
    output_tokens: usage.outputTokens,
    reasoning_output_tokens: usage.reasoningOutputTokens,
  }
}

/** An item that the Guardian may have judged. */
type Judged = Extract<Item, { type: 'command_execution' | 'file_change' | 'tool_call' | 'mcp_tool_call' }>

const judged: readonly Item['type'][] = ['command_execution', 'file_change', 'tool_call', 'mcp_tool_call']

/** Whether the Guardian may have judged an item. */
export function isJudged(item: Item): item is Judged {
  return judged.includes(item.type)
}

/** Returns one line that describes what an item did or tried to do. */
export function subject(item: Judged): string {
  switch (item.type) {
    case 'command_execution':
      return item.command
    case 'file_change':
      return `patch to ${item.changes.map(({ path }) => path).join(', ')}`
    case 'tool_call':
      return `${item.tool} ${item.input}`
    case 'mcp_tool_call':
      return `mcp__${item.server}__${item.tool}`
    default:
      return item satisfies never
  }
}

/** The names, as used in events, of the tools that only look something up. */
const lookingUp: readonly string[] = [
  'web_fetch',
  'read_file',
  'view_image',
  'grep',
  'glob',
  'list_dir',
  'read_mcp_resource',
]

/** Whether an item is a call that only looks something up. */
export function isLookUp(item: Judged): boolean {
  return item.type === 'tool_call' && lookingUp.includes(item.tool)
}
