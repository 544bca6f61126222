import type { ReviewOptions } from '../../policies/index.ts'
import { reviewBy } from '../tools/review-call.ts'
import type { CheckedCall, Tool, ToolContext, ValidCall } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { CallItems } from './call-items.ts'
import type { CallPath, FoundCall } from './find-call.ts'
import type { CallHooks, HookedCall, HookOpinion } from '../tools/hook-interface.ts'
import { messageOf } from './message-of.ts'
import { replacing } from './replaced-call.ts'
import type { Turn } from './scheduler.ts'

/** A call that can be carried out if the Guardian permits it. */
export type PreparedCall = {
  readonly tool: Tool
  readonly checked: ValidCall
  readonly context: ToolContext
  /** The call to carry out: as the model made it, or as a hook changed it. */
  readonly hooked: HookedCall
  /** Text that a hook adds to the result for the model; undefined if there is none. */
  readonly note: string | undefined
}

/**
 * Prepares a call for execution. Plan mode, the tool's own checks and hooks may refuse it.
 *
 * @returns the call to carry out, or a result that says why the call can't be carried out
 */
export async function prepareCall(
  { call, tool, checked: given, json }: Extract<FoundCall, { fits: true }>,
  path: CallPath,
  turn: Turn,
  items: CallItems,
): Promise<{ readonly ready: PreparedCall } | { readonly result: ToolResult }> {
  const { signal } = turn
  const common = { subject: call.id, signal }
  const contextWith = (hook: ReviewOptions['hook']): ToolContext => ({
    ...path.context,
    review: replacing(
      reviewBy(path.context.guardian, hook === undefined ? common : { ...common, hook }),
      path.replacement && (() => path.replacement?.(call.id)),
    ),
    callId: call.id,
    signal,
    startItem: (draft) => items.open(draft),
  })
  const context = contextWith(undefined)
  if (!tool.ownItems) items.open({ ...items.draft(), status: 'in_progress' })

  const blocked = blockedByPlanMode(tool, given, path)
  if (blocked !== undefined) return { result: items.refused(blocked) }
  const complaint = await settle(() => given.validate(context))
  if (complaint !== undefined) return { result: items.misfit(complaint) }

  const seen = given.seenAs(context)
  const asked: HookedCall = { id: call.id, tool: tool.name, claudeNames: tool.claudeNames, input: json, signal }
  const opinion = await before(path.hooks, seen === undefined ? asked : { ...asked, seen })
  if (opinion.decision === 'block') {
    await recordBlock(opinion, asked, context)
    return { result: items.blocked(opinion.reason) }
  }
  const ready = { tool, context: contextWith(opinion.opinion), note: opinion.context }
  if (opinion.input === undefined) return { ready: { ...ready, checked: given, hooked: asked } }

  const checked: CheckedCall = tool.check(opinion.input)
  if (!checked.valid) return { result: items.misfit(`A hook changed the arguments. ${checked.error}`) }
  const again = await settle(() => checked.validate(context))
  if (again !== undefined) return { result: items.misfit(`A hook changed the arguments. ${again}`) }
  if (!checked.concurrencySafe(context)) await turn.alone()
  return { ready: { ...ready, checked, hooked: { ...asked, input: opinion.input } } }
}

/**
 * Returns why plan mode refuses a call; undefined if it doesn't. Only calls without an action are checked here, because the Guardian judges all
 * others.
 */
function blockedByPlanMode(tool: Tool, checked: ValidCall, { planMode, context }: CallPath): string | undefined {
  if (planMode === undefined || tool.guarded || checked.readOnly(context)) return undefined
  return checked.action(context) === undefined ? planMode.refusalOfTool(tool.name) : undefined
}

/** Returns why a check rejects a call. A check that throws also rejects the call, because a call that can't be checked must not run. */
async function settle(check: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check()
  } catch (error) {
    return `The arguments could not be checked: ${messageOf(error)}`
  }
}

async function before(hooks: CallHooks, call: HookedCall): Promise<HookOpinion> {
  try {
    return await hooks.before(call)
  } catch (error) {
    return { decision: 'block', reason: `A hook failed: ${messageOf(error)}` }
  }
}

/** Records a hook's denial like any other denial, before anybody is told about it. */
async function recordBlock(
  { reason, action }: Extract<HookOpinion, { decision: 'block' }>,
  { tool, input }: HookedCall,
  { review, sandbox }: ToolContext,
): Promise<void> {
  const called = action ?? { type: 'mcp' as const, server: 'portcullis', tool, arguments: input }
  const recorded = 'sandbox' in called ? { ...called, sandbox: sandbox.policy.mode } : called
  await review(recorded, { refuse: reason, refusedBy: 'hook' })
}
