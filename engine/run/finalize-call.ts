import { fitOutput } from '../core/text/fit-output.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { CallHooks } from '../tools/hook-interface.ts'
import { messageOf } from './message-of.ts'
import type { PreparedCall } from './prepare-call.ts'

/**
 * Prepares a tool's result for the model: hooks may add to it, replace it or withhold it, and it is truncated to the output limit.
 *
 * @param took how long the tool took, in milliseconds
 */
export async function finalizeCall(
  { hooked, note, context }: PreparedCall,
  result: ToolResult,
  hooks: CallHooks,
  took: number,
): Promise<ToolResult> {
  const noted = note === undefined ? result : { ...result, output: `${result.output}\n${note}` }
  return fitOutput(await after(hooks, hooked, noted, took), context.state)
}

async function after(
  hooks: CallHooks,
  call: PreparedCall['hooked'],
  result: ToolResult,
  took: number,
): Promise<ToolResult> {
  try {
    return await hooks.after(call, result, took)
  } catch (error) {
    return { ...result, output: `The call was made, but a hook withheld its result: ${messageOf(error)}`, ok: false }
  }
}
