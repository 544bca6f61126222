import type { Action } from '../../policies/index.ts'
import type { Item } from '../core/events.ts'
import type { ToolResult } from './tool-result.ts'
import { noTaskHooks, type TaskHooks } from './tasks/hooked-task.ts'

/** What a hook did, as an item of the stream. */
type HookItemDraft = Omit<Extract<Item, { type: 'hook' }>, 'id'>

/** A call as hooks see it: its arguments are JSON that fits the tool's schema. */
export type HookedCall = {
  readonly id: string
  readonly tool: string
  /** Claude Code's names for its own tools that do the same: guards of those guard this call. */
  readonly claudeNames: readonly string[]
  readonly input: unknown
  /** The input as hooks are to see it, where that is more than the model sent. Absent: the input. */
  readonly seen?: unknown
  readonly signal: AbortSignal
  /** The agent whose call it is. Absent: the run's own. */
  readonly agent?: { readonly id: string; readonly type: string }
}

/** A hook's answer before a call. */
export type HookOpinion =
  | {
      readonly decision: 'proceed'
      /** Arguments to use instead; they are checked and judged as the model's own would be. Absent: the model's. */
      readonly input?: unknown
      /** Added to the result for the model. Absent: nothing. */
      readonly context?: string
      /**
       * The hook's decision for the Guardian: to ask although nothing else would, or to allow what only the mode would ask about. Absent:
       * none.
       */
      readonly opinion?: { readonly decision: 'ask' | 'allow'; readonly reason: string }
    }
  /** `action`: what the call would have done, for the audit log. Absent: the log can only describe the call itself. */
  | { readonly decision: 'block'; readonly reason: string; readonly action?: Action | undefined }

/** The hooks around every call. A hook that rejects blocks the call, or withholds its result from the model. */
export type CallHooks = {
  before(call: HookedCall): Promise<HookOpinion>
  /**
   * Returns the result for the model.
   *
   * @param took milliseconds
   */
  after(call: HookedCall, result: ToolResult, took: number): Promise<ToolResult>
}

/** The events of a run for its hooks, and their answers. */
export type RunHooks = {
  readonly calls: CallHooks
  readonly tasks: TaskHooks
  /** Receives the hooks' items for the run's stream, past and future ones. */
  readonly report: (sink: (item: HookItemDraft) => void) => void
  /** Cancels running hooks when the signal is aborted, until the next call; undefined: only with the run. */
  readonly within: (signal: AbortSignal | undefined) => void
  /** Before the first message: what to tell the model besides the prompt, or why the run must not continue. */
  readonly begin: (prompt: string) => Promise<{ readonly context: readonly string[]; readonly refused?: string }>
  /**
   * The model has come to its end. Returns a message to continue with instead, if a hook wants that.
   *
   * @param again whether it already continued because of a hook
   */
  readonly finish: (message: string, again: boolean) => Promise<string | undefined>
  /** Between two turns: returns sentences for the user. */
  readonly between: () => Promise<readonly string[]>
  /** The conversation is about to be summed up, or was. */
  readonly compact: (when: 'before' | 'after') => Promise<void>
  /** The run is over, successfully or with `failure`. */
  readonly end: (reason: string, failure: string | undefined) => Promise<void>
  /** Why a hook has ended the run; undefined while none has. */
  readonly stopped: () => string | undefined
}

/** No hooks: every call proceeds. */
export const noHooks: CallHooks = {
  before: () => Promise.resolve({ decision: 'proceed' }),
  after: (_, result) => Promise.resolve(result),
}

/** The hooks of a run without any. */
export const silentHooks: RunHooks = {
  calls: noHooks,
  tasks: noTaskHooks,
  report: () => undefined,
  within: () => undefined,
  begin: () => Promise.resolve({ context: [] }),
  finish: () => Promise.resolve(undefined),
  between: () => Promise.resolve([]),
  compact: () => Promise.resolve(),
  end: () => Promise.resolve(),
  stopped: () => undefined,
}
