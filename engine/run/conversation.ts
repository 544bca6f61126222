import type { HistoryItem, Usage } from '../model.ts'
import type { Rollout } from '../session/rollout.ts'

/**
 * The history of a run and its only writer: what is added to it is in the rollout before anything else happens, so that a
 * run that is killed can be gone on with from there.
 */
export class Conversation {
  readonly #items: HistoryItem[]
  readonly #rollout: Rollout

  /** @param earlier what a resumed session holds already */
  constructor(rollout: Rollout, earlier: readonly HistoryItem[] = []) {
    this.#rollout = rollout
    this.#items = [...earlier]
    for (const item of unanswered(earlier)) this.add(item)
  }

  get items(): readonly HistoryItem[] {
    return this.#items
  }

  add(item: HistoryItem): void {
    this.#rollout.append({ type: 'item', item })
    this.#items.push(item)
  }

  /** A response is complete: what it said is kept as one, and survives a power cut before its calls run. */
  addResponse(items: readonly HistoryItem[], usage: Usage): void {
    for (const item of items) this.add(item)
    this.#rollout.append({ type: 'response', usage })
    this.#rollout.sync()
  }
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
