import type { Item } from '../core/events.ts'
import { oneLine } from '../core/text/one-line.ts'
import { progressWords } from './format-values.ts'

/** Describes in one line what the run is doing while an item is in progress. */
export function activity(item: Item): string {
  switch (item.type) {
    case 'command_execution':
      return oneLine(item.command)
    case 'file_change':
      return 'applying a patch'
    case 'mcp_tool_call':
      return [`${item.server}: ${item.tool}`, ...progressWords(item.progress)].join(' · ')
    case 'tool_call':
      return oneLine(`${item.tool} ${item.input}`)
    case 'guardian_assessment':
      return `waiting for approval by a ${item.reviewer}`
    case 'context_compaction':
      return 'summarizing the conversation'
    case 'hook':
      return `running the ${item.event} hook`
    case 'verification':
      return `verifying: ${oneLine(item.command)}`
    case 'plan_mode':
      return 'the plan is being reviewed'
    case 'agent_message':
    case 'reasoning':
    case 'todo_list':
    case 'web_search':
    case 'service_connection':
    case 'credential_use':
    case 'review_finding':
    case 'error':
      return 'the model is thinking'
    default:
      return item satisfies never
  }
}
