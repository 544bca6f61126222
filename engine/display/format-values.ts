import type { Item } from '../core/events.ts'
import type { EndReason } from '../core/exit-codes.ts'
import { oneLine } from '../core/text/one-line.ts'

/** Formats a duration, given in milliseconds, for a person. */
export function seconds(ms: number): string {
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`
  const whole = Math.round(ms / 1000)
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Formats an amount of US dollars for a person: amounts of one dollar or more with two decimals, smaller ones with up to four significant digits. */
export function dollars(amount: number | undefined): string {
  if (amount === undefined) return 'unknown'
  return `$${amount >= 1 ? amount.toFixed(2) : Number(amount.toPrecision(4))}`
}

/** Formats a count. A count of 1000 or more is shortened to three significant digits, such as `1.23k`. */
export function short(count: number): string {
  if (count < 1000) return `${count}`
  return count < 999_500 ? `${(count / 1000).toPrecision(3)}k` : `${(count / 1_000_000).toPrecision(3)}M`
}

/** Formats a call's progress in the units of its MCP server. Returns an empty list if the server has reported no progress. */
export function progressWords(progress: Extract<Item, { type: 'mcp_tool_call' }>['progress']): readonly string[] {
  if (progress === undefined) return []
  const { progress: at, total, message } = progress
  return [`${at}${total === undefined ? '' : ` of ${total}`}`, ...(message === undefined ? [] : [oneLine(message)])]
}

/** A phrase for each way in which a run can end. */
export const endings: Readonly<Record<EndReason, string>> = {
  done: 'done',
  failed: 'failed',
  usage: 'not run',
  stoppedByGuardian: 'stopped by the Guardian',
  budget: 'budget used up',
  sandboxUnavailable: 'no sandbox',
  provider: 'the model’s provider failed',
  interrupted: 'interrupted',
  terminated: 'terminated',
}

/** The lines of a message after a mark. All but the first are indented, so that none of them looks like a line of ours. */
export function hanging(message: string, mark: string): readonly string[] {
  const space = mark.replaceAll(/./g, ' ')
  return message
    .trimEnd()
    .split('\n')
    .map((line, at) => `${at === 0 ? mark : space}${line}`)
}
