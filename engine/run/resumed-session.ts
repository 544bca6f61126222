import type { HistoryItem, Usage } from '../core/model.ts'

/** What a run takes over from the session that it continues. */
export type ResumedSession = {
  /** What the model is sent of it. */
  readonly history: readonly HistoryItem[]
  /** All its items. */
  readonly original: readonly HistoryItem[]
  readonly usage: Usage
  /** How many tokens the provider counted last, and up to which item of `history`; undefined where it didn't. */
  readonly counted?: { readonly tokens: number; readonly items: number } | undefined
  /** In US dollars; undefined where a price was not known. */
  readonly costUsd: number | undefined
}
