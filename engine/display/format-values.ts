import type { Item } from '../core/events.ts'
import type { EndReason } from '../core/exit-codes.ts'

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

/** Fits a command on one line: leaves out a surrounding `/bin/bash -c` or `-lc`, joins the lines with `⏎`, and cuts off the end of a long text. */
export function oneLine(command: string): string {
  const script = /^\/bin\/bash -l?c (?:'(?<quoted>[^]*)'|(?<bare>\S+))$/.exec(command)?.groups
  const text = script?.['quoted']?.replaceAll(`'\\''`, "'") ?? script?.['bare'] ?? command
  const flat = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ⏎ ')
  return flat.length > 120 ? `${flat.slice(0, 119)}…` : flat
}
