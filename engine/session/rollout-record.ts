import * as z from 'zod'
import { verificationFields } from '../core/verification-settings.ts'
import { historyItem } from './history-item.ts'

const count = z.number()
const usage = z.object({
  inputTokens: count,
  cachedInputTokens: count,
  cacheWriteInputTokens: count,
  outputTokens: count,
  reasoningOutputTokens: count,
  webSearches: count.optional(),
})

/** The cost in US dollars; absent if the price was not known. */
const cost = z.number().optional()

/** The schema of a line of a rollout. */
export const record = z.discriminatedUnion('type', [
  /** The first line of a rollout. */
  z.object({
    type: z.literal('session'),
    version: z.literal(1),
    thread_id: z.string(),
    /** When the session began, in ISO 8601 format. */
    started: z.string(),
    workspace: z.string(),
    forked_from: z.string().optional(),
    /** The name that the session's client gave itself when it started the session. */
    source: z.string().optional(),
  }),
  /** A run of the session begins: the first one, or one that resumes the session. */
  z.object({ type: z.literal('run'), at: z.string(), model: z.string() }),
  z.object({ type: z.literal('item'), item: historyItem }),
  /** A complete response with its usage and cost. It is one line, so it is stored either whole or not at all. */
  z.object({ type: z.literal('response'), items: z.array(historyItem), usage, cost_usd: cost }),
  /** The usage and cost of something other than a response: a failed attempt, a summary, a review. */
  z.object({ type: z.literal('spent'), usage, cost_usd: cost }),
  /** From this line on, these items are sent to the model instead of all earlier items. */
  z.object({ type: z.literal('compaction'), items: z.array(historyItem) }),
  /** The conversation goes on after this number of items: all later ones, and all summaries, are left out from now on. */
  z.object({ type: z.literal('cut'), items: count }),
  /** Plan mode begins, and `requested_by` says who requested it; if `requested_by` is null, plan mode ends. */
  z.object({
    type: z.literal('plan_mode'),
    requested_by: z.enum(['user', 'model']).nullable().optional(),
    // The name of the field `requested_by` in rollouts written by older versions.
    wished_by: z.enum(['user', 'model']).nullable().optional(),
  }),
  /** The verification that applies from this line on. An empty list of commands means that nothing is verified. */
  z.object({ type: z.literal('verify'), ...verificationFields }),
  z.object({ type: z.literal('end'), at: z.string(), reason: z.string(), message: z.string().optional() }),
])

/** A line of a rollout, as it is read. */
export type ReadRecord = z.infer<typeof record>

/** Leaves out what cuts have cut off: the items after those that they keep, and all earlier summaries. */
export function withoutCutOff(records: readonly ReadRecord[]): readonly ReadRecord[] {
  const at = records.findLastIndex(({ type }) => type === 'cut')
  const cut = records[at]
  if (cut?.type !== 'cut') return records
  return [...firstItems(cut.items, withoutCutOff(records.slice(0, at))), ...records.slice(at)]
}

function firstItems(count: number, records: readonly ReadRecord[]): readonly ReadRecord[] {
  let left = count
  return records.flatMap((entry): readonly ReadRecord[] => {
    if (entry.type === 'compaction') return []
    if (entry.type === 'item') return left-- > 0 ? [entry] : []
    if (entry.type !== 'response') return [entry]
    const items = entry.items.slice(0, Math.max(0, left))
    left -= entry.items.length
    return items.length === 0 ? [] : [{ ...entry, items }]
  })
}
