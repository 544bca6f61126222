import type { Action } from '../../policies/index.ts'
import type { Item } from '../core/events.ts'
import type { ToolResult } from './tool-result.ts'
import { noTaskHooks, type TaskHooks } from './tasks/hooked-task.ts'

/** An item for the event stream that reports what a hook did. It has no id yet. */
type HookItemDraft = Omit<Extract<Item, { type: 'hook' }>, 'id'>

/** A call as hooks see it. Its arguments are JSON that matches the tool's schema. */
export type HookedCall = {
  readonly id: string
  readonly tool: string
  /** The names of the tools in Claude Code that correspond to the called tool. Hooks for those tools also apply to this call. */
  readonly claudeNames: readonly string[]
  readonly input: unknown
  /** The input to show to hooks, if it contains more than the model sent. Default: `input`. */
  readonly seen?: unknown
  readonly signal: AbortSignal
  /** The sub-agent that made the call. Absent: the run itself made it. */
  readonly agent?: { readonly id: string; readonly type: string }
}

/** What a hook answers before a call runs. */
export type HookOpinion =
  | {
      readonly decision: 'proceed'
      /** Arguments to use instead of the model's. They are validated and reviewed like the model's own. Absent: the model's are used. */
      readonly input?: unknown
      /** Text to add to the result for the model. Absent: none. */
      readonly context?: string
      /**
       * What the hook wants from the Guardian. `ask`: to ask for approval even if nothing else requires it. `allow`: to allow an action that would
       * need approval only because of the approval mode. Absent: nothing.
       */
      readonly opinion?: { readonly decision: 'ask' | 'allow'; readonly reason: string }
    }
  /** `action`: what the call would have done, for the audit log. Absent: the log describes only the call itself. */
  | { readonly decision: 'block'; readonly reason: string; readonly action?: Action | undefined }

/** The hooks that run before and after every call. If `before` rejects, the call is blocked. If `after` rejects, the result is withheld from the model. */
export type CallHooks = {
  before(call: HookedCall): Promise<HookOpinion>
  /**
   * Called after a call. Returns the result that the model receives.
   *
   * @param took how long the call took, in milliseconds
   */
  after(call: HookedCall, result: ToolResult, took: number): Promise<ToolResult>
}

/** The hooks of a run: functions that are called for its tool calls and at its events. */
export type RunHooks = {
  /** True if there are no hooks. */
  readonly isSilent?: true
  readonly calls: CallHooks
  readonly tasks: TaskHooks
  /** Sets the function that receives all items that hooks report, including those that were reported before it was set. */
  readonly report: (sink: (item: HookItemDraft) => void) => void
  /** Sets the signal that cancels hooks. It stays in effect until this function is called again. Undefined: hooks are cancelled only with the run. */
  readonly within: (signal: AbortSignal | undefined) => void
  /** Called before the first message. Returns what to tell the model besides the prompt, or why the run must not continue. */
  readonly begin: (prompt: string) => Promise<{ readonly context: readonly string[]; readonly refused?: string }>
  /**
   * Called when the model has finished. Returns a message to continue with if a hook wants the run to continue.
   *
   * @param again whether the run has already been continued by a hook
   */
  readonly finish: (message: string, again: boolean) => Promise<string | undefined>
  /** Called between two turns. Returns messages for the user. */
  readonly between: () => Promise<readonly string[]>
  /** Called before and after the conversation is summarized. */
  readonly compact: (when: 'before' | 'after') => Promise<void>
  /** Called when the run is over. `failure` is undefined if it succeeded. */
  readonly end: (reason: string, failure: string | undefined) => Promise<void>
  /** Why a hook ended the run; undefined if none did. */
  readonly stopped: () => string | undefined
}

/** No hooks: every call proceeds. */
export const noHooks: CallHooks = {
  before: () => Promise.resolve({ decision: 'proceed' }),
  after: (_, result) => Promise.resolve(result),
}

/** The `RunHooks` of a run without hooks. */
export const silentHooks: RunHooks = {
  isSilent: true,
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
