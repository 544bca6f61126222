import { truncateMiddle } from '../core/text/truncate.ts'
import type { HandlerResult } from './handler-result.ts'
import { kindOf, type HookEvent } from './hook-event.ts'
import type { Hook } from './load-hooks.ts'

/** The maximum length of a hook's message to the user, in characters. */
const messageLimit = 2000
/**
 * Returns the time limit of a hook in milliseconds. The defaults are Claude Code's: questions to a model get less time than commands, because they
 * should be short.
 */
export function timeoutOf(event: HookEvent, { handler }: Hook): number {
  const usual = handler.type === 'prompt' ? 30 : handler.type === 'agent' ? 60 : kindOf(event).timeout
  return (handler.timeout ?? Math.min(usual, kindOf(event).timeout)) * 1000
}

/** Returns the message for the user about a hook's run: the reason if it is `blocked` or `failed`, otherwise its message and the notes, if any. */
export function messageOf(result: HandlerResult, notes: readonly string[]): string | undefined {
  if (result.status !== 'answered') return result.reason
  const { systemMessage } = result.output
  const said = [...(systemMessage === undefined ? [] : [truncateMiddle(systemMessage, messageLimit).text]), ...notes]
  return said.length === 0 ? undefined : said.join(' ')
}

/** Returns the name of a hook for messages. */
export function nameOf({ handler, origin }: Hook): string {
  const words = {
    command: () => (handler.type === 'command' ? [handler.command, ...(handler.args ?? [])].join(' ') : ''),
    http: () => (handler.type === 'http' ? handler.url : ''),
    prompt: () => 'prompt',
    agent: () => 'agent',
    callback: () => 'a callback',
    mcp_tool: () => (handler.type === 'mcp_tool' ? `mcp__${handler.server}__${handler.tool}` : ''),
  }[handler.type]()
  return `'${words.length > 80 ? `${words.slice(0, 79)}…` : words}' (${origin})`
}
