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
  /** What Claude Code calls its own tools that do the same: guards of those guard this call. */
  readonly claudeNames: readonly string[]
  readonly input: unknown
  /** The input as hooks are to see it, where that is more than the model sent. Absent: the input. */
  readonly seen?: unknown
  readonly signal: AbortSignal
  /** The agent whose call it is. Absent: the run's own. */
  readonly agent?: { readonly id: string; readonly type: string }
}

/** What a hook says before a call. */
export type HookOpinion =
  | {
      readonly decision: 'proceed'
      /** Arguments to use instead; they are checked and judged as the model's own would be. Absent: the model's. */
      readonly input?: unknown
      /** Told to the model with the result. Absent: nothing. */
      readonly context?: string
      /** What the Guardian is to heed: to ask although nothing else would, or to allow what only the mode would ask. Absent: nothing. */
      readonly opinion?: { readonly decision: 'ask' | 'allow'; readonly reason: string }
    }
  /** `action`: what the call would have done, for the audit log. Absent: nothing that a log has words for but the call itself. */
  | { readonly decision: 'block'; readonly reason: string; readonly action?: Action | undefined }

/** What is asked around every call. A hook that rejects blocks the call, or keeps its result from the model. */
export type CallHooks = {
  before(call: HookedCall): Promise<HookOpinion>
  /**
   * Gives the result that the model reads.
   *
   * @param took milliseconds
   */
  after(call: HookedCall, result: ToolResult, took: number): Promise<ToolResult>
}

/** What a run tells its hooks, and what they may answer. */
export type RunHooks = {
  readonly calls: CallHooks
  readonly tasks: TaskHooks
  /** Takes what hooks do as items of the run's stream, from now on and what was done before. */
  readonly report: (sink: (item: HookItemDraft) => void) => void
  /** Gives up hooks that are at work when the signal is aborted, until this is said again; undefined: with the run alone. */
  readonly within: (signal: AbortSignal | undefined) => void
  /** Before anything is said: what the model is told beside the prompt, or why the run must not go on. */
  readonly begin: (prompt: string) => Promise<{ readonly context: readonly string[]; readonly refused?: string }>
  /**
   * The model has come to its end. Gives what it is to go on with instead, if a hook wants that.
   *
   * @param again whether it goes on because a hook wanted it already
   */
  readonly finish: (message: string, again: boolean) => Promise<string | undefined>
  /** Between two turns: gives sentences for the person who watches. */
  readonly between: () => Promise<readonly string[]>
  /** The conversation is about to be summed up, or was. */
  readonly compact: (when: 'before' | 'after') => Promise<void>
  /** The run is over, by itself or (`failure`) not. */
  readonly end: (reason: string, failure: string | undefined) => Promise<void>
  /** Why a hook has ended the run; undefined while none has. */
  readonly stopped: () => string | undefined
}

/** No hooks: every call goes ahead as it is. */
export const noHooks: CallHooks = {
  before: () => Promise.resolve({ decision: 'proceed' }),
  after: (_, result) => Promise.resolve(result),
}

/** A run that nobody listens to. */
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
