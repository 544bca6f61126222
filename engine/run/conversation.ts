import type { HistoryItem, ToolCall, Usage } from '../model.ts'
import type { Rollout } from '../session/rollout.ts'
import { RepeatWatch } from './repeats.ts'

/**
 * The history of a run and its only writer: what is added to it is in the rollout before anything else happens, so that a
 * run that is killed can be gone on with from there.
 */
export class Conversation {
  readonly #items: HistoryItem[]
  readonly #rollout: Rollout
  readonly #open = new Map<string, ToolCall>()
  readonly #repeats = new RepeatWatch()

  /** @param earlier what a resumed session holds already */
  constructor(rollout: Rollout, earlier: readonly HistoryItem[] = []) {
    this.#rollout = rollout
    this.#items = [...earlier]
    for (const item of unanswered(earlier)) this.add(item)
  }

  get items(): readonly HistoryItem[] {
    return this.#items
  }

  /** Why the model's calls so far end the run, if they do: it goes round in a circle. */
  get repeated(): string | undefined {
    return this.#repeats.exhausted()
  }

  add(item: HistoryItem): void {
    const kept = this.#watch(item)
    this.#rollout.append({ type: 'item', item: kept })
    this.#items.push(kept)
  }

  /** Sees which call a result answers, and adds to it what the model must be told about repeating itself. */
  #watch(item: HistoryItem): HistoryItem {
    if (item.type === 'tool_call') this.#open.set(item.call.id, item.call)
    if (item.type !== 'tool_result') return item
    const call = this.#open.get(item.callId)
    this.#open.delete(item.callId)
    const note = call === undefined ? undefined : this.#repeats.see(call, item.output)
    return note === undefined ? item : { ...item, output: `${item.output}\n${note}` }
  }

  /** A response is complete: what it said is kept as one, and survives a power cut before its calls run. */
  addResponse(items: readonly HistoryItem[], usage: Usage, cost: number | undefined): void {
    for (const item of items) this.add(item)
    this.#rollout.append({ type: 'response', usage, ...priced(cost) })
    this.#rollout.sync()
  }

  /** An attempt at a response failed, and was paid for all the same. */
  addAttempt(usage: Usage, cost: number | undefined): void {
    this.#rollout.append({ type: 'attempt', usage, ...priced(cost) })
  }
}

function priced(cost: number | undefined): { readonly cost_usd?: number } {
  return cost === undefined ? {} : { cost_usd: cost }
}

/**
 * Results for calls that have none because their run was cut off. No call is repeated: it may have run, and nobody can know;
 * so the model is told, and looks.
 */
function unanswered(history: readonly HistoryItem[]): readonly HistoryItem[] {
  const answered = new Set(history.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : [])))
  return history.flatMap((item): readonly HistoryItem[] => {
    if (item.type !== 'tool_call' || answered.has(item.call.id)) return []
    const output =
      'The run was cut off before this call was answered. It may have run, wholly or in part, or not at all: look before you repeat it.'
    return [{ type: 'tool_result', callId: item.call.id, output, ok: false }]
  })
}
