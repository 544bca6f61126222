import type { ToolResult } from '../tools/tool-result.ts'
import { CallItems } from './call-items.ts'
import { executeCall } from './execute-call.ts'
import { finalizeCall } from './finalize-call.ts'
import type { CallPath, FoundCall } from './find-call.ts'
import { prepareCall } from './prepare-call.ts'
import { ReplacedCall } from './replaced-call.ts'
import type { Turn } from './scheduler.ts'

/**
 * Handles one tool call: prepares it, executes it, and finalizes its result. Nothing that a model sends can make this throw: an unknown tool, invalid
 * input, a denial and a failure of the tool all become results, each with an item in the stream.
 *
 * @param turn cancels the call, and lets it wait until it can run alone
 */
export async function runCall(found: FoundCall, path: CallPath, turn: Turn): Promise<ToolResult> {
  const items = new CallItems(found.call, path.recorder)
  if (!found.fits) return items.misfit(found.error)
  const prepared = await prepareCall(found, path, turn, items)
  if ('result' in prepared) return prepared.result
  const started = performance.now()
  const result = await executeCall(prepared.ready, items)
  if (result instanceof ReplacedCall) return runInstead(found, result.input, path, turn)
  return finalizeCall(prepared.ready, result, path.hooks, Math.round(performance.now() - started))
}

/** Makes a call with another input, which is checked and judged like that of the model. */
async function runInstead(
  { call, tool }: Extract<FoundCall, { fits: true }>,
  json: unknown,
  path: CallPath,
  turn: Turn,
): Promise<ToolResult> {
  const changed = { ...call, input: JSON.stringify(json) }
  const checked = tool.check(json)
  if (!checked.valid) return new CallItems(changed, path.recorder).misfit(`The input was changed. ${checked.error}`)
  if (!checked.concurrencySafe(path.context)) await turn.alone()
  return runCall({ call: changed, fits: true, tool, json, checked }, path, turn)
}
