import type { EventVerdict, ItemDraft, ToolCallItem } from '../core/events.ts'
import type { ToolCall } from '../core/model.ts'
import { planModeStage } from '../tools/plan-mode/planning-guardian.ts'
import type { ItemHandle } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { Recorder } from './recorder.ts'

/** The items of one call. Every call has at least one, and every opened item is closed. */
export class CallItems {
  readonly #call: ToolCall
  readonly #recorder: Recorder
  readonly #started = performance.now()
  readonly #opened: ItemHandle[] = []
  /** The `tool_call` item of a call whose tool has no more specific type of item. */
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

  /** Ends a call that can't be carried out. The error becomes its result. */
  misfit(error: string): ToolResult {
    this.close({ status: 'failed', error })
    return { ok: false, output: error }
  }

  /** Reports a call that plan mode refused. The verdict is made here, because the Guardian was not asked about the call. */
  refused(reason: string): ToolResult {
    const verdict: EventVerdict = { decision: 'deny', decided_by: planModeStage, reason }
    this.close({ status: 'declined', verdict })
    return { ok: false, refused: verdict, output: reason }
  }

  blocked(reason: string): ToolResult {
    this.close({ status: 'declined', error: reason, verdict: { decision: 'deny', decided_by: 'hook', reason } })
    return { ok: false, output: `Refused by a hook: ${reason}` }
  }

  /** Ends a call that is made with another input, which has items of its own. */
  replace(): void {
    for (const item of this.#opened) item.complete({ status: 'failed' })
  }

  broken(error: string): ToolResult {
    for (const item of this.#opened) item.complete({ status: 'failed' })
    this.#recorder.complete({ type: 'error', message: error })
    return { ok: false, output: error, broken: true }
  }
}

/** The maximum number of characters of a call's input or output in one event. */
const excerptLimit = 2000

function excerpt(text: string): string {
  return text.length > excerptLimit ? `${text.slice(0, excerptLimit)}…` : text
}
