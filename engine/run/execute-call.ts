import { faultIn } from '../core/disk-fault.ts'
import { denied, eventVerdict } from '../tools/denied-result.ts'
import type { ToolContext } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { CallItems } from './call-items.ts'
import { messageOf } from './message-of.ts'
import type { PreparedCall } from './prepare-call.ts'
import { ReplacedCall } from './replaced-call.ts'

const givenUp = 'Not run: the call was cancelled.'

/**
 * Carries out a call: the Guardian judges its action, if it has one, and the tool does what was approved.
 *
 * @returns the result; or the input with which the call is to be made instead
 */
export async function executeCall(
  { tool, checked, context }: PreparedCall,
  items: CallItems,
): Promise<ToolResult | ReplacedCall> {
  let hasStarted = false
  const run = (approved: Parameters<typeof checked.run>[1]): ReturnType<typeof checked.run> => {
    hasStarted = !checked.readOnly(context)
    return checked.run(context, approved)
  }
  try {
    const action = checked.action(context)
    if (action === undefined) {
      if (context.signal.aborted) return items.misfit(givenUp)
      return items.done(hideIn(await run(undefined), context))
    }
    const refuse = checked.refusal(context)
    const { verdict, approved } = await context.review(action, refuse === undefined ? {} : { refuse })
    if (approved === undefined) {
      items.close({ status: 'declined', verdict: eventVerdict(verdict) })
      return denied(verdict)
    }
    // The tool isn't started: it might not notice an abort that came before it began, and nobody would wait for it.
    if (context.signal.aborted) return items.misfit(givenUp)
    return items.done(hideIn(await run(approved), context), eventVerdict(verdict))
  } catch (error) {
    if (error instanceof ReplacedCall) {
      items.replace()
      return error
    }
    const effect = hasStarted ? ' It may have taken effect: look before you repeat it.' : ''
    const broken = items.broken(`${tool.name} failed because of an internal error: ${messageOf(error)}.${effect}`)
    return { ...broken, ...faultIn(error) }
  }
}

/** Masks secrets in a result before anybody sees it. */
function hideIn(result: ToolResult, { state }: ToolContext): ToolResult {
  const output = state.mask(result.output)
  return output === result.output ? result : { ...result, output }
}
