import type { ToolResult } from '../tools/tool.ts'

/** A call as hooks see it: its arguments are JSON that fits the tool's schema. */
export type HookedCall = {
  readonly id: string
  readonly tool: string
  readonly input: unknown
  readonly signal: AbortSignal
}

/** What a hook says before a call. */
export type HookOpinion =
  | {
      readonly decision: 'proceed'
      /** Arguments to use instead; they are checked and judged as the model's own would be. Absent: the model's. */
      readonly input?: unknown
      /** Told to the model with the result. Absent: nothing. */
      readonly context?: string
    }
  | { readonly decision: 'block'; readonly reason: string }

/** What is asked around every call. A hook that rejects blocks the call, or keeps its result from the model. */
export type CallHooks = {
  before(call: HookedCall): Promise<HookOpinion>
  /** Gives the result that the model reads. */
  after(call: HookedCall, result: ToolResult): Promise<ToolResult>
}

/** No hooks: every call goes ahead as it is. */
export const noHooks: CallHooks = {
  before: () => Promise.resolve({ decision: 'proceed' }),
  after: (_, result) => Promise.resolve(result),
}
