import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { ItemDraft } from '../core/events.ts'
import type { HistoryItem, Model, Usage } from '../core/model.ts'
import type { ItemHandle } from './tool.ts'

/** What a run lends to those who review its actions, and to those it hands work to. */
export type RunContext = {
  /** Opens an item of the run's stream and gives the functions that update and close it. */
  readonly open: (item: ItemDraft) => ItemHandle
  /** Counts tokens of a model as the run's own, in its usage, its budget and its cost. */
  readonly spend: (usage: Usage, model: string) => void
  /** Which limit of the run is reached, in words; undefined while there is room. */
  readonly exhausted: () => string | undefined
  /** The same model, asked only what the run's budget has room for. */
  readonly within: (model: Model) => Model
  /** What the user asked for, oldest first: the only words that can authorize anything. */
  readonly prompts: readonly string[]
  /** The user's piped input, which others may have written; empty where there was none. */
  readonly material: string
  /** The items so far, oldest first. */
  readonly history: () => readonly HistoryItem[]
  /** Tracks what commands write. Absent: nothing does. */
  readonly changes?: ChangeSource
}
