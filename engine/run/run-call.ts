import type { Guardian, ReviewOptions } from '../../policies/index.ts'
import { nearest } from '../config/nearest.ts'
import type { EventVerdict, ItemDraft, ToolCallItem } from '../events.ts'
import type { ToolCall } from '../model.ts'
import { fitOutput } from '../text/fit-output.ts'
import { planModeStage } from '../plan-mode/planning-guardian.ts'
import type { PlanMode } from '../plan-mode/plan-mode.ts'
import { denied, eventVerdict } from '../tools/denied.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { CheckedCall, ItemHandle, Tool, ToolContext, ValidCall } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { CallHooks, HookOpinion } from './hooks.ts'
import type { Recorder } from './recorder.ts'
import type { Turn } from './scheduler.ts'

/** What all calls of a run share. */
export type CallPath = {
  readonly registry: ToolRegistry
  readonly hooks: CallHooks
  readonly recorder: Recorder
  /** Whether a person is there who can be asked. */
  readonly attended: boolean
  /** Whether the run plans, so that it may change nothing. Absent: it acts. */
  readonly planMode?: PlanMode
  readonly context: Omit<ToolContext, 'callId' | 'startItem' | 'signal'>
}

/** A call whose tool and arguments were looked up, and with which nothing has happened yet. */
export type PreparedCall = { readonly call: ToolCall } & (
  | { readonly fits: true; readonly tool: Tool; readonly json: unknown; readonly checked: ValidCall }
  | { readonly fits: false; readonly error: string }
)

/** Finds a call's tool and checks its arguments against the schema. */
export function prepareCall(given: ToolCall, { registry, attended }: CallPath): PreparedCall {
  const call = registry.unwrap(given)
  const misfit = (error: string): PreparedCall => ({ call, fits: false, error })
  const tool = registry.find(call.name)
  if (tool === undefined) return misfit(unknownTool(call.name, registry))
  if (!tool.headless && !attended)
    return misfit(
      `${tool.name} needs a person, and nobody is there. Decide by yourself, or stop and say what is missing.`,
    )
  const parsed = tool.parse(call.kind, call.input)
  if ('error' in parsed) return misfit(parsed.error)
  const checked = tool.check(parsed.json)
  return checked.valid ? { call, fits: true, tool, json: parsed.json, checked } : misfit(checked.error)
}

/** Whether a call may run beside others. One that can't run at all is answered without anything happening, so it may. */
export function isConcurrencySafe(prepared: PreparedCall, { context }: CallPath): boolean {
  return !prepared.fits || prepared.checked.concurrencySafe(context)
}

/**
 * Takes one call through the one path: hooks, the Guardian where the tool names an action, the tool, hooks again, and the result
 * cut to what a model can read. Nothing a model can send makes this throw: an unknown tool, input that doesn't fit, a refusal and
 * a tool's own failure all become results, each with an item in the stream.
 *
 * @param turn the call's place among the others
 */
export async function runCall(prepared: PreparedCall, path: CallPath, turn: Turn): Promise<ToolResult> {
  const items = new CallItems(prepared.call, path.recorder)
  if (!prepared.fits) return items.misfit(prepared.error)
  const { call, tool } = prepared
  const { signal } = turn
  const context: ToolContext = { ...path.context, callId: call.id, signal, startItem: (draft) => items.open(draft) }
  if (!tool.ownItems) items.open({ ...items.draft(), status: 'in_progress' })

  let { checked, json } = prepared
  const shut = shutByPlanMode(tool, checked, path)
  if (shut !== undefined) return items.refused(shut)
  let complaint = await settle(() => checked.validate(context))
  if (complaint.text !== undefined) return items.misfit(complaint.text)

  const opinion = await before(path.hooks, { id: call.id, tool: tool.name, input: json, signal })
  if (opinion.decision === 'block') return items.blocked(opinion.reason)
  if (opinion.input !== undefined) {
    json = opinion.input
    const again: CheckedCall = tool.check(json)
    if (!again.valid) return items.misfit(`A hook changed the arguments. ${again.error}`)
    checked = again
    complaint = await settle(() => checked.validate(context))
    if (complaint.text !== undefined) return items.misfit(`A hook changed the arguments. ${complaint.text}`)
    if (!checked.concurrencySafe(context)) await turn.alone()
  }

  const started = performance.now()
  const { opinion: heeded } = opinion
  const guarded = heeded === undefined ? context : { ...context, guardian: heeding(context.guardian, heeded) }
  const result = await perform(tool, checked, guarded, items)
  const noted = opinion.context === undefined ? result : { ...result, output: `${result.output}\n${opinion.context}` }
  const hooked = { id: call.id, tool: tool.name, input: json, signal }
  const took = Math.round(performance.now() - started)
  return fitOutput(await after(path.hooks, hooked, noted, took), path.context.state)
}

/** Why plan mode has no room for a call of which the Guardian would never hear. Whatever names an action is judged by that. */
function shutByPlanMode(tool: Tool, checked: ValidCall, { planMode, context }: CallPath): string | undefined {
  if (planMode === undefined || tool.guarded || checked.readOnly(context)) return undefined
  return checked.action(context) === undefined ? planMode.refusalOfTool(tool.name) : undefined
}

/** A Guardian that takes a hook's word into account in everything it is asked. */
function heeding(guardian: Guardian, hook: NonNullable<ReviewOptions['hook']>): Guardian {
  return { ...guardian, review: (action, options) => guardian.review(action, { ...options, hook }) }
}

const givenUp = 'Not run: the call was given up.'

async function perform(tool: Tool, checked: ValidCall, context: ToolContext, items: CallItems): Promise<ToolResult> {
  try {
    const action = checked.action(context)
    if (action === undefined) {
      if (context.signal.aborted) return items.misfit(givenUp)
      return items.done(hideIn(await checked.run(context, undefined), context))
    }
    const refuse = checked.refusal(context)
    const { verdict, approved } = await context.guardian.review(action, {
      subject: context.callId,
      signal: context.signal,
      ...(refuse === undefined ? {} : { refuse }),
    })
    if (approved === undefined) {
      items.close({ status: 'declined', verdict: eventVerdict(verdict) })
      return denied(verdict)
    }
    // Nobody waits for a tool to notice what was decided before it began.
    if (context.signal.aborted) return items.misfit(givenUp)
    return items.done(hideIn(await checked.run(context, approved), context), eventVerdict(verdict))
  } catch (error) {
    return items.broken(`${tool.name} failed inside: ${messageOf(error)}`)
  }
}

/** A result before anybody sees it. */
function hideIn(result: ToolResult, { state }: ToolContext): ToolResult {
  const output = state.mask(result.output)
  return output === result.output ? result : { ...result, output }
}

/** A check that itself fails is a complaint too: what can't be checked doesn't run. */
async function settle(check: () => Promise<string | undefined>): Promise<{ readonly text: string | undefined }> {
  try {
    return { text: await check() }
  } catch (error) {
    return { text: `The arguments could not be checked: ${messageOf(error)}` }
  }
}

async function before(hooks: CallHooks, call: Parameters<CallHooks['before']>[0]): Promise<HookOpinion> {
  try {
    return await hooks.before(call)
  } catch (error) {
    return { decision: 'block', reason: `A hook failed: ${messageOf(error)}` }
  }
}

async function after(
  hooks: CallHooks,
  call: Parameters<CallHooks['after']>[0],
  result: ToolResult,
  took: number,
): Promise<ToolResult> {
  try {
    return await hooks.after(call, result, took)
  } catch (error) {
    return { ...result, output: `The call was made, but a hook kept its result back: ${messageOf(error)}`, ok: false }
  }
}

/** The items of one call: every call has at least one, and every one that was opened is closed. */
class CallItems {
  readonly #call: ToolCall
  readonly #recorder: Recorder
  readonly #started = performance.now()
  readonly #opened: ItemHandle[] = []
  /** The `tool_call` item, where the tool has none of its own. */
  #own: ItemHandle | undefined

  constructor(call: ToolCall, recorder: Recorder) {
    this.#call = call
    this.#recorder = recorder
  }

  draft(): Pick<ToolCallItem, 'type' | 'tool' | 'input' | 'call_id'> {
    const { id, name, input } = this.#call
    return { type: 'tool_call', tool: name, input: excerpt(input), call_id: id }
  }

  open(draft: ItemDraft): ItemHandle {
    const item = this.#recorder.open(draft)
    this.#opened.push(item)
    if (draft.type === 'tool_call') this.#own = item
    return item
  }

  close(changes: Pick<ToolCallItem, 'status'> & Partial<ToolCallItem>): void {
    const timed = { ...changes, duration_ms: Math.round(performance.now() - this.#started) }
    if (this.#own !== undefined) this.#own.complete(timed)
    else if (this.#opened.length === 0) this.#recorder.complete({ ...this.draft(), ...timed })
  }

  done(result: ToolResult, verdict?: EventVerdict): ToolResult {
    const { refused } = result
    if (refused !== undefined) {
      this.close({ status: 'declined', verdict: refused })
      return result
    }
    const said = result.ok ? { output: excerpt(result.output) } : { error: excerpt(result.output) }
    this.close({ status: result.ok ? 'completed' : 'failed', ...said, ...(verdict === undefined ? {} : { verdict }) })
    return result
  }

  /** The call can't be made as it is. */
  misfit(error: string): ToolResult {
    this.close({ status: 'failed', error })
    return { ok: false, output: error }
  }

  /** Plan mode has no room for it. */
  refused(reason: string): ToolResult {
    const verdict: EventVerdict = { decision: 'deny', decided_by: planModeStage, reason }
    this.close({ status: 'declined', verdict })
    return { ok: false, refused: verdict, output: reason }
  }

  blocked(reason: string): ToolResult {
    this.close({ status: 'declined', error: reason, verdict: { decision: 'deny', decided_by: 'hook', reason } })
    return { ok: false, output: `Refused by a hook: ${reason}` }
  }

  broken(error: string): ToolResult {
    for (const item of this.#opened) item.complete({ status: 'failed' })
    this.#recorder.complete({ type: 'error', message: error })
    return { ok: false, output: error, broken: true }
  }
}

/** Of a call's input or output in one event. */
const excerptLimit = 2000

function excerpt(text: string): string {
  return text.length > excerptLimit ? `${text.slice(0, excerptLimit)}…` : text
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function unknownTool(name: string, { declarations }: ToolRegistry): string {
  const known = declarations.map((tool) => tool.name)
  const near = nearest(name, known)
  return `There is no tool '${name}'.${near === undefined ? '' : ` Did you mean '${near}'?`} The tools are: ${known.join(', ')}.`
}
