import type { HistoryItem, Usage } from '../core/model.ts'

/** What a session holds when a run goes on with it. */
export type Earlier = {
  /** What the model is sent of it. */
  readonly history: readonly HistoryItem[]
  /** All that was said in it. */
  readonly original: readonly HistoryItem[]
  readonly usage: Usage
  /** In US dollars; undefined where a price was not known. */
  readonly costUsd: number | undefined
}
