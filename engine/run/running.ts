import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { BudgetWatch } from './budget-watch.ts'
import type { CallTally } from '../tools/call-tally.ts'
import type { Conversation } from './conversation.ts'
import type { Recorder } from './recorder.ts'

/** The objects that track the state of one run: its events, budget, conversation and changes. */
export type Running = {
  readonly recorder: Recorder
  readonly budget: BudgetWatch
  readonly conversation: Conversation
  readonly changes: ChangeSource
  readonly tally: CallTally
}
