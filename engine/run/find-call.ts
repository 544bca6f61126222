import type { Guardian } from '../../policies/index.ts'
import { nearest } from '../core/text/nearest.ts'
import type { ToolCall } from '../core/model.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { Tool, ToolContext, ValidCall } from '../tools/tool.ts'
import type { CallHooks } from '../tools/hook-interface.ts'
import type { CallReport } from './call-report.ts'
import type { Recorder } from './recorder.ts'

/** State that all calls of a run share. */
export type CallPath = {
  readonly registry: ToolRegistry
  readonly hooks: CallHooks
  readonly recorder: Recorder
  /** Returns the input with which a call that was just denied is to be made instead, once. Absent: no denied call is made. */
  readonly replacement?: ((callId: string) => unknown) | undefined
  /** Tells sinks the calls in full. Absent: nobody wants to know. */
  readonly report?: CallReport | undefined
  /** Whether a person is available to answer questions. */
  readonly attended: boolean
  /** The run's plan mode: while it is on, the run may change nothing. Undefined if the run has no plan mode. */
  readonly planMode?: PlanMode
  readonly context: Omit<ToolContext, 'callId' | 'startItem' | 'signal' | 'guardian' | 'review'> & {
    readonly guardian: Guardian
  }
}

/** A call that hasn't started yet: either with its tool and its checked arguments, or with an error that says why it can't be made. */
export type FoundCall = { readonly call: ToolCall } & (
  | { readonly fits: true; readonly tool: Tool; readonly json: unknown; readonly checked: ValidCall }
  | { readonly fits: false; readonly error: string }
)

/** Finds a call's tool and checks the arguments against the tool's schema. */
export function findCall(given: ToolCall, { registry, attended }: CallPath): FoundCall {
  const call = registry.unwrap(given)
  const misfit = (error: string): FoundCall => ({ call, fits: false, error })
  if (call.cut === true) return misfit(cutOff)
  const tool = registry.find(call.name)
  if (tool === undefined) return misfit(unknownTool(call.name, registry))
  if (!tool.headless && !attended)
    return misfit(
      `${tool.name} needs a person to respond, and nobody is available in this run. Decide for yourself, or stop and say what information is missing.`,
    )
  const parsed = tool.parse(call.kind, call.input)
  if ('error' in parsed) return misfit(parsed.error)
  const checked = tool.check(parsed.json)
  return checked.valid ? { call, fits: true, tool, json: parsed.json, checked } : misfit(checked.error)
}

/** Whether a call can run in parallel with other calls once the response is complete, even if the call has effects. */
export function isSideBySide(found: FoundCall): boolean {
  return found.fits && found.tool.sideBySide
}

const cutOff =
  'Not run: your answer reached its length limit in the middle of this call. Write less at a time: several smaller calls, or a file in parts.'

/** Whether a call may run in parallel with others. An invalid call has no effect, so it may. */
export function isConcurrencySafe(found: FoundCall, { context }: CallPath): boolean {
  return !found.fits || found.checked.concurrencySafe(context)
}

function unknownTool(name: string, { declarations }: ToolRegistry): string {
  const known = declarations.map((tool) => tool.name)
  const near = nearest(name, known)
  return `There is no tool '${name}'.${near === undefined ? '' : ` Did you mean '${near}'?`} The tools are: ${known.join(', ')}.`
}
