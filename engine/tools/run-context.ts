import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { ItemDraft } from '../core/events.ts'
import type { HistoryItem, Model, Usage } from '../core/model.ts'
import type { CallTally } from './call-tally.ts'
import type { ItemHandle } from './tool.ts'

/** The parts of a run that its reviewers and sub-agents may use. */
export type RunContext = {
  /** Opens an item in the run's event stream and returns the functions that update and complete it. */
  readonly open: (item: ItemDraft) => ItemHandle
  /** Adds a model's tokens to the run's usage, budget and cost. */
  readonly spend: (usage: Usage, model: string) => void
  /** Describes which limit of the run has been reached; undefined if none has. */
  readonly exhausted: () => string | undefined
  /** Wraps a model so that its requests are limited to what is left of the run's budget. */
  readonly within: (model: Model) => Model
  /** The user's prompts, oldest first. Only these can authorize an action. */
  readonly prompts: readonly string[]
  /** The text that was piped to the program, which may have been written by somebody other than the user; empty if there was none. */
  readonly material: string
  /** Returns the items of the conversation so far, oldest first. */
  readonly history: () => readonly HistoryItem[]
  /** Counts what became of the run's calls. */
  readonly tally: CallTally
  /** Tracks what commands write. Absent: writes are not tracked. */
  readonly changes?: ChangeSource
}
