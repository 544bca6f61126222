import type { HistoryItem, Usage } from '../core/model.ts'

/** The state that a run gets from the session that it continues. */
export type ResumedSession = {
  /** The part of the conversation that is sent to the model. */
  readonly history: readonly HistoryItem[]
  /** All items of the conversation, including those that are no longer sent to the model. */
  readonly original: readonly HistoryItem[]
  readonly usage: Usage
  /** The provider's last token count, and how many items of `history` it covers; undefined if there was none since the last compaction. */
  readonly counted?: { readonly tokens: number; readonly items: number } | undefined
  /** What the session has cost so far, in US dollars; undefined if a price was not known. */
  readonly costUsd: number | undefined
}
