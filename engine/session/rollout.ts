import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import * as z from 'zod'
import { maskRecord } from '../core/text/mask-record.ts'
import type { HistoryItem, Usage } from '../core/model.ts'
import { noUsage, sumCost, sumUsage } from '../core/usage.ts'
import { readUserBytes } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import type { Verification } from '../core/verification-settings.ts'
import type { historyItem } from './history-item.ts'
import { record, withoutCutOff, type ReadRecord } from './rollout-record.ts'

/**
 * A rollout: a session's conversation as JSON lines, written as it happens, so that a session can be read and resumed even if its run is
 * killed. Only the last line can be incomplete, if the run was killed while writing it.
 */

type Items = { readonly items: readonly HistoryItem[] }

/** A line of a rollout. */
type RolloutRecord =
  | Exclude<ReadRecord, { type: 'item' | 'response' | 'compaction' }>
  | { readonly type: 'item'; readonly item: HistoryItem }
  | (Omit<Extract<ReadRecord, { type: 'response' }>, 'items'> & Items)
  | ({ readonly type: 'compaction' } & Items)

/** The open rollout of a run. */
export type Rollout = {
  append(record: RolloutRecord): void
  /** Flushes to the disk everything that has been written so far, so that it survives a power cut. */
  sync(): void
  close(): void
}

/** The conversation items in one line of a rollout. If `usage` is present, the line is a complete response of the model. */
type RolloutEntry = {
  readonly items: readonly HistoryItem[]
  readonly usage?: Usage
  /** The cost in US dollars; absent if the price was not known. */
  readonly costUsd?: number
}

/** The contents of a rollout. */
export type ReadRollout = {
  readonly session: Extract<RolloutRecord, { type: 'session' }>
  /** The items that are sent to the model: all of them or, after a compaction, the compaction's items and all later ones. */
  readonly history: readonly HistoryItem[]
  /** All items, including those that a compaction replaced. */
  readonly original: readonly HistoryItem[]
  /** All items, grouped by the line that contains them. */
  readonly entries: readonly RolloutEntry[]
  readonly usage: Usage
  /** The provider's last token count, and how many items of `history` it covers; undefined if there was none since the last compaction. */
  readonly counted: { readonly tokens: number; readonly items: number } | undefined
  /** The session's total cost in US dollars; undefined if the price of any part was unknown. */
  readonly costUsd: number | undefined
  /** How the session's last run ended; undefined if it was cut off or hasn't ended yet. */
  readonly end: Extract<RolloutRecord, { type: 'end' }> | undefined
  readonly model: string | undefined
  /** Who requested plan mode; undefined outside plan mode. */
  readonly planRequestedBy: 'user' | 'model' | undefined
  /** The session's verification; undefined if none was set. */
  readonly verify: Verification | undefined
}

/** Opens a rollout for appending, after removing an incomplete last line. */
export function openRollout(path: string): Rollout {
  const bytes = existsSync(path) ? readBytes(path) : Buffer.alloc(0)
  const descriptor = openSync(path, 'a+', 0o600)
  const whole = bytes.lastIndexOf(10) + 1
  if (whole < bytes.length) ftruncateSync(descriptor, whole)
  return {
    append(entry) {
      const line = Buffer.from(`${JSON.stringify(maskRecord(entry))}\n`)
      for (let written = 0; written < line.length;) written += writeSync(descriptor, line, written)
    },
    sync: () => fsyncSync(descriptor),
    close: () => closeSync(descriptor),
  }
}

/** A rollout that stores nothing, for ephemeral runs. */
export const noRollout: Rollout = { append: () => undefined, sync: () => undefined, close: () => undefined }

/** Whether a rollout has no complete line or doesn't exist. */
export function isEmpty(path: string): boolean {
  return !existsSync(path) || !readBytes(path).includes(10)
}

/**
 * Reads a rollout. An incomplete last line is skipped.
 *
 * @throws UserError `usage` if the file can't be read, or any other line isn't a valid record; the message gives the file and, if known, the line
 */
export function readRollout(path: string): ReadRollout {
  const bytes = readBytes(path)
  const wholeBytes = bytes.lastIndexOf(10) + 1
  const records = bytes
    .toString('utf8', 0, wholeBytes)
    .split('\n')
    .slice(0, -1)
    .map((line, index) => parseRecord(line, `${path}:${index + 1}`))
  const [session] = records
  if (session?.type !== 'session')
    throw new UserError('usage', `${path}:1: expected the record with which a session begins`)
  const planRequest = records.findLast((entry) => entry.type === 'plan_mode')
  return {
    session,
    ...conversationIn(records),
    ...addUp(records),
    end: endOf(records),
    model: records.findLast((entry) => entry.type === 'run')?.model,
    verify: records.findLast((entry) => entry.type === 'verify'),
    planRequestedBy: planRequest?.requested_by ?? planRequest?.wished_by ?? undefined,
  }
}

const largestRollout = 2 ** 31

function readBytes(path: string): Buffer {
  return readUserBytes(path, largestRollout)
}

function parseRecord(line: string, place: string): ReadRecord {
  try {
    return record.parse(JSON.parse(line))
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new UserError('usage', `${place}: not a record of a session: ${what}`, { cause: error })
  }
}

function conversationIn(all: readonly ReadRecord[]): Pick<ReadRollout, 'history' | 'original' | 'entries' | 'counted'> {
  const records = withoutCutOff(all)
  const said = (entry: ReadRecord): readonly HistoryItem[] => {
    if (entry.type === 'item') return [toHistory(entry.item)]
    return entry.type === 'response' ? entry.items.map(toHistory) : []
  }
  const entries = records.flatMap((entry): readonly RolloutEntry[] => {
    if (entry.type !== 'response') return entry.type === 'item' ? [{ items: said(entry) }] : []
    const paid = entry.cost_usd === undefined ? {} : { costUsd: entry.cost_usd }
    return [{ items: said(entry), usage: entry.usage, ...paid }]
  })
  const original = entries.flatMap(({ items }) => items)
  const at = records.findLastIndex((entry) => entry.type === 'compaction' || entry.type === 'cut')
  const compaction = records[at]
  const last = records.findLastIndex((entry) => entry.type === 'response')
  const response = records[last]
  const kept = compaction?.type === 'compaction' ? compaction.items.map(toHistory) : []
  const after = kept.length > 0 ? records.slice(at) : records
  const history = kept.length > 0 ? [...kept, ...after.flatMap(said)] : original
  if (response?.type !== 'response' || last < at) return { history, original, entries, counted: undefined }
  const items = history.length - records.slice(last + 1).flatMap(said).length
  return {
    history,
    original,
    entries,
    counted: { tokens: response.usage.inputTokens + response.usage.outputTokens, items },
  }
}

/** Removes fields whose value is undefined. Zod adds them for absent fields, but the exact optional properties of `HistoryItem` don't allow them. */
function toHistory(item: z.infer<typeof historyItem>): HistoryItem {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as HistoryItem
}

function endOf(records: readonly ReadRecord[]): ReadRollout['end'] {
  const last = records.findLast((entry) => entry.type === 'end' || entry.type === 'run')
  return last?.type === 'end' ? last : undefined
}

function addUp(records: readonly ReadRecord[]): Pick<ReadRollout, 'usage' | 'costUsd'> {
  let usage = noUsage
  let costUsd: number | undefined = 0
  for (const entry of records) {
    if (entry.type !== 'response' && entry.type !== 'spent') continue
    usage = sumUsage(usage, entry.usage)
    costUsd = sumCost(costUsd, entry.cost_usd)
  }
  return { usage, costUsd }
}
